import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { LONGEST_LIST } from '@phds/catalog/pagination';
import { pageOfApp } from '../src/store/grant-lists.ts';
import { grantsWhere } from '../src/store/grant-rows.ts';
import {
  approve,
  type RegisteredApp,
  type RunningService,
  registerApp,
  startConsent,
} from './running-service.ts';

const GRANTS = LONGEST_LIST + 50;
const ALL = { status: null, sub: null, before: null };

let consent: RunningService;
let app: RegisteredApp;

beforeAll(async () => {
  consent = await startConsent();
  app = await registerApp(consent);
  const { grantId } = await approve(consent, app, 'first');
  await consent.owner.query(
    `INSERT INTO consent_grant SELECT (jsonb_populate_record(g, jsonb_build_object('id', 'grt_' || n, 'user_id', 'user ' || n,
       'user_ref', gen_random_uuid(), 'granted_at', g.granted_at - n * interval '1 second'))).*
     FROM consent_grant g CROSS JOIN generate_series(1, $2) n WHERE g.id = $1`,
    [grantId, GRANTS - 1],
  );
  await consent.owner.query('ANALYZE consent_grant');
});
afterAll(() => consent[Symbol.asyncDispose]());

const list = (options: object) =>
  consent.asAuthorization.listAppGrants({ clientId: app.clientId, ...options });

test('a list counts and skips at most 10,000 grants; what follows is reached from its last one', async () => {
  const last = await list({ page: { page: LONGEST_LIST / 100, pageSize: 100 } });
  expect(last.total).toBe(LONGEST_LIST);
  expect(last.grants).toHaveLength(100);
  const beyond = await list({ page: { page: LONGEST_LIST / 100 + 1, pageSize: 100 } });
  expect(beyond).toMatchObject({ total: LONGEST_LIST, grants: [] });
  const before = last.grants.at(-1)!.id;
  const rest = await list({ before, page: { page: 1, pageSize: 100 } });
  expect(rest.total).toBe(GRANTS - LONGEST_LIST);
  expect(rest.grants.map(({ id }) => id)).toEqual(
    Array.from({ length: 50 }, (_, n) => `grt_${LONGEST_LIST + n}`),
  );
});

test('a list does not continue after a grant that the app does not have', async () => {
  const other = await registerApp(consent);
  for (const options of [{ before: 'grt_unknown' }, { clientId: other.clientId, before: 'grt_1' }]) {
    await expect(list(options)).rejects.toMatchObject({ reason: 'invalid_request' });
  }
});

test('every page is read in the order of the index, however long the list is', async () => {
  const before = { id: 'grt_5000', grantedAt: new Date() } as never;
  for (const filter of [ALL, { ...ALL, before }]) {
    const { text, values } = grantsWhere(pageOfApp(app.clientId, filter, { page: 2, pageSize: 20 }));
    const { rows } = await consent.owner.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${text}`, values);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toContain('consent_grant_client_id_granted_at_id_idx');
    expect(plan).not.toMatch(/Sort|Seq Scan on consent_grant/);
  }
});
