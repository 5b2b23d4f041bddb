import { beforeAll, describe, expect, test } from '@jest/globals';
import { LONGEST_LIST } from '@phds/catalog/pagination';
import { capture } from '@phds/test-kit/plans';
import { listGrantsOfApp } from '../src/grant-lists.ts';
import { renamingAt } from './renamed-apps.ts';
import { approve, openPending, type RegisteredApp, registerApp, shareConsent } from './running-service.ts';

const consent = await shareConsent();

const { rename, approveOpened } = renamingAt(() => consent);
const listOf = (userId: string, page = {}) => consent.as(userId).listConnectedApps({ page });

describe('the apps of a person', () => {
  test('are each app once, the one with the latest grant first, in pages, whether their grants are live or ended', async () => {
    const [first, second, third] = [
      await registerApp(consent),
      await registerApp(consent),
      await registerApp(consent),
    ];
    const ended = await approve(consent, first, 'lister');
    await consent.as('lister').revokeGrant({ id: ended.grantId });
    await approve(consent, second, 'lister');
    await approve(consent, third, 'lister');
    await consent.as('lister').revokeAllGrants({});
    await approve(consent, first, 'lister');
    await approve(consent, await registerApp(consent), 'somebody else');
    const { apps, total } = await listOf('lister');
    expect(apps.map(({ clientId }) => clientId)).toEqual(
      [first, third, second].map(({ clientId }) => clientId),
    );
    expect(total).toBe(3);
    expect(await listOf('lister', { page: 2, pageSize: 2 })).toMatchObject({
      apps: [{ clientId: second.clientId }],
      total: 3,
    });
    expect(await listOf('nobody')).toMatchObject({ apps: [], total: 0 });
  });

  test('have the name, host and developer of the latest approval, and the present name', async () => {
    const app = { ...(await registerApp(consent)), developerName: 'Pulse Labs GmbH' };
    const { grantId } = await approve(consent, app, 'namer');
    await rename(app, 'Data Broker');
    const about = { clientId: app.clientId, redirectHost: 'pulse.test', developerName: 'Pulse Labs GmbH' };
    expect((await listOf('namer')).apps).toMatchObject([
      { ...about, name: 'Pulse Diary', currentName: 'Data Broker' },
    ]);
    const joined = await approveOpened(await openPending(consent, { ...app, name: 'Data Broker' }), 'namer');
    expect(joined.grantId).toBe(grantId);
    expect((await listOf('namer')).apps).toMatchObject([
      { ...about, name: 'Data Broker', currentName: 'Data Broker' },
    ]);
  });
});

describe('the grants of an app', () => {
  const GRANTS = LONGEST_LIST + 50;
  const ALL = { status: null, sub: null, before: null, deletionRequested: false };

  let app: RegisteredApp;

  beforeAll(async () => {
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
    for (const before of [null, 'grt_5000']) {
      const page = { page: 2, pageSize: 20 };
      const asked = await capture(() =>
        listGrantsOfApp(consent.owner, app.clientId, { ...ALL, before }, page),
      );
      const { text, values } = asked.find((statement) => statement.text.includes('OFFSET'))!;
      const { rows } = await consent.owner.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${text}`, [...values]);
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      expect(plan).toContain('consent_grant_client_id_granted_at_id_idx');
      expect(plan).not.toMatch(/Sort|Seq Scan on consent_grant/);
    }
  });
});
