import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Verdict } from '@phds/contracts/phds/consent/v1/access_pb';
import { openTestPool } from '@phds/test-kit/test-pool';
import type pg from 'pg';
import {
  accessOf,
  approve,
  type RunningService,
  record,
  registerApp,
  startConsent,
} from './running-service.ts';

const PAGE = join(import.meta.dirname, '../../../docs/operations/incidents.md');

let consent: RunningService;
/** As the page is used: without a search path. */
let operator: pg.Pool;

beforeAll(async () => {
  consent = await startConsent();
  operator = openTestPool(consent.database.url, { max: 1 });
});
afterAll(async () => {
  await operator.end();
  await consent[Symbol.asyncDispose]();
});

/** The statement of the page that begins with this comment, with values in place of its placeholders. */
function statementOf(comment: string, values: Readonly<Record<string, string>>): string {
  const blocks = [...readFileSync(PAGE, 'utf8').matchAll(/^```sql\n([\s\S]*?)^```$/gm)].map(
    ([, sql]) => sql ?? '',
  );
  const found = blocks.find((sql) => sql.startsWith(`-- ${comment}`));
  if (found === undefined) throw new Error(`docs/operations/incidents.md has no statement "${comment}"`);
  return found.replaceAll(/'([A-Z_]+)'/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`no value for ${name}`);
    return `'${value}'`;
  });
}

const MINUTE_MS = 60_000;
const moment = (ms: number) => new Date(Date.now() + ms).toISOString();
const period = { FROM: moment(-60 * MINUTE_MS), UNTIL: moment(60 * MINUTE_MS) };

test('the query of the runbook for reads after a revocation finds a released one, and no refused one', async () => {
  const query = statementOf('Reads that were released after their grant was revoked', period);
  const grant = await approve(consent, await registerApp(consent), 'ada');
  expect(await record(consent, { ...accessOf(grant), requestId: 'released' })).toBe(Verdict.RELEASED);
  await consent.asGateway.revokeGrant({ id: grant.grantId }, await consent.session('ada'));
  expect(await record(consent, accessOf(grant))).not.toBe(Verdict.RELEASED);
  expect((await operator.query(query)).rows).toEqual([]);
  // As if the revocation had been there before the first read.
  await consent.owner.query(
    `UPDATE consent_grant SET revoked_at = revoked_at - interval '10 minutes' WHERE id = $1`,
    [grant.grantId],
  );
  expect((await operator.query(query)).rows).toMatchObject([
    { user_id: 'ada', grant_id: grant.grantId, request_id: 'released' },
  ]);
});

test('the query of the runbook for what an app read counts what was released, by person, grant and scope', async () => {
  const app = await registerApp(consent);
  const grant = await approve(consent, app, 'grace');
  await record(consent, accessOf(grant));
  await record(consent, accessOf(grant));
  await record(consent, { ...accessOf(grant), scope: 'read:mood' });
  await record(consent, accessOf(await approve(consent, await registerApp(consent), 'grace')));
  const query = statementOf('What an app read', { ...period, CLIENT_ID: app.clientId });
  expect((await operator.query(query)).rows).toMatchObject([
    { user_id: 'grace', grant_id: grant.grantId, scope: 'read:health-data:heart', answers: '2', items: '40' },
  ]);
});

test('the query of the runbook for approvals finds each one of the period with its person, also of a grant that has ended', async () => {
  const app = await registerApp(consent);
  const grant = await approve(consent, app, 'maria');
  await consent.asGateway.revokeGrant({ id: grant.grantId }, await consent.session('maria'));
  const ofMaria = async (from: string) =>
    (await operator.query(statementOf('Approvals', { ...period, FROM: from }))).rows.filter(
      (row) => row.user_id === 'maria',
    );
  expect(await ofMaria(period.FROM)).toMatchObject([{ client_id: app.clientId, grant_id: grant.grantId }]);
  expect(await ofMaria(moment(30 * MINUTE_MS))).toEqual([]);
});

test('the query of the runbook for restores names each one and when it was confirmed', async () => {
  await consent.restores.declareRestore({});
  const query = statementOf('Restores and their confirmations', {});
  const declared = { kind: 'declared', confirmed_at: null };
  expect((await operator.query(query)).rows.at(-1)).toMatchObject(declared);
  const { latest } = await consent.restores.getRestoreStatus({});
  await consent.restores.confirmRestore({ number: latest?.number ?? 0 });
  expect((await operator.query(query)).rows.at(-1)).toMatchObject({
    kind: 'declared',
    confirmed_at: expect.any(Date),
  });
});
