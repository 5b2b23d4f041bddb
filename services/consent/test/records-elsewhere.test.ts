import { expect, test } from '@jest/globals';
import { exportRecords } from '@phds/cli/commands/records-export';
import { Verdict } from '@phds/contracts/phds/consent/v1/access_pb';
import { Metrics } from '@phds/service-kit/telemetry/metrics';
import { eventually } from '@phds/test-kit/conditions';
import { createTestDatabase } from '@phds/test-kit/databases';
import { shared } from '@phds/test-kit/shared';
import { startTcpProxy, type TcpProxy } from '@phds/test-kit/tcp-proxy';
import { openTestPool } from '@phds/test-kit/test-pool';
import type pg from 'pg';
import { openSmallPools } from './database-clients.ts';
import { monthAway, partitionsOf } from './months.ts';
import { accessOf, approve, MOOD, record, registerApp, shareConsent } from './running-service.ts';
import { runRecords, verifyRecords } from './verify-command.ts';

let ledgerProxy: TcpProxy;
const metrics = new Metrics({ service: 'consent' });

const records = shared.use(await createTestDatabase('consent'));
/** Reads the records' database as its owner. */
const owner = openTestPool(records.ownerUrl, { max: 2, options: '-c search_path=consent' });
shared.defer(() => owner.end());
const next = await monthAway(owner, 1);
await owner.query(`DROP TABLE access_batch_${next}, access_record_${next}`);
const recordsProxy = shared.use(await startTcpProxy(records.url));
const consent = await shareConsent({
  settings: {
    RECORDS_DATABASE_URL: recordsProxy.url,
    DATABASE_CONNECT_TIMEOUT_MS: '2000',
    DATABASE_STATEMENT_TIMEOUT_MS: '2000',
    COUNT_INTERVAL_MS: '50',
    RESTORE_CHECK_INTERVAL_MS: '50',
  },
  databaseUrl: async (url) => {
    ledgerProxy = shared.use(await startTcpProxy(url));
    return ledgerProxy.url;
  },
  overrides: { metrics },
});

const readiness = async () => (await fetch(`http://127.0.0.1:${consent.service.probePort}/readyz`)).status;
const count = async (pool: pg.Pool, table: string) =>
  (await pool.query(`SELECT count(*)::int AS n FROM ${table}`)).rows[0].n;

const FAILURES =
  /phds_background_failures_total\{task="looking for the access records that were written"\} (\d+)/;
const countFailures = async () => Number(FAILURES.exec(await metrics.text())?.[1]);

test('records, counts and checkpoints are in their own database, and everybody who reads them finds them there', async () => {
  const app = await registerApp(consent, 'dev');
  const grant = await approve(consent, app, 'reader');
  expect(await record(consent, accessOf(grant))).toBe(Verdict.RELEASED);
  expect(await record(consent, { ...accessOf(grant), scope: MOOD })).toBe(Verdict.SCOPE_WITHDRAWN);
  await eventually(async () => expect(await count(owner, 'access_uncounted')).toBe(0));
  await eventually(async () => expect(await count(owner, 'access_day')).toBe(2));
  for (const table of ['access_record', 'access_batch', 'access_uncounted', 'access_day', 'app_day'])
    expect([table, await count(consent.owner, table)]).toEqual([table, 0]);

  const session = await consent.session('reader');
  const { accesses, total } = await consent.history.listAccesses({}, session);
  expect(total).toBe(2);
  expect(accesses).toMatchObject([
    { verdict: Verdict.SCOPE_WITHDRAWN, appName: 'Pulse Diary', currentAppName: 'Pulse Diary' },
    { verdict: Verdict.RELEASED, appName: 'Pulse Diary' },
  ]);
  for (const timeZone of ['', 'Asia/Kathmandu'])
    expect((await consent.history.listAccessDays({ timeZone }, session)).days).toMatchObject([
      { appName: 'Pulse Diary', released: 1, refused: 1 },
    ]);
  const { grant: view } = await consent.asGateway.getGrant({ id: grant.grantId }, session);
  expect(view).toMatchObject({ accessCount: 1, lastAccessAt: expect.anything() });
  const { usage } = await consent.history.getAppUsage(
    { clientId: app.clientId },
    await consent.session('dev'),
  );
  expect(usage).toMatchObject([{ released: 1, refused: 1 }]);

  const own = { database: records, receiptPublicKey: consent.receiptPublicKey };
  expect(await verifyRecords(own)).toMatchObject({ ok: true, records: 3 });
  const exporting = (ofRecords: Parameters<typeof runRecords>[0]) =>
    runRecords(ofRecords, (parts) =>
      exportRecords(
        { userId: 'reader', clientId: null, from: null, to: null, format: 'csv', file: null },
        parts,
      ),
    );
  expect((await exporting({ ...own, ledgerDatabase: consent.database })).stdout).toMatch(
    /,Pulse Diary,[^\n]*,released,/,
  );
  expect(await exporting(own)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('LEDGER_DATABASE_URL'),
  });
});

test('months are made there', async () => {
  const next = await monthAway(owner, 1);
  await eventually(async () => expect(await partitionsOf(owner, 'access_record')).toContain(next));
});

test('without the server of the records nothing is released and revocations hold; without that of the ledger nothing is released', async () => {
  const grant = await approve(consent, await registerApp(consent), 'outage');
  const session = await consent.session('outage');
  await recordsProxy.cut();
  await expect(record(consent, accessOf(grant))).rejects.toMatchObject({
    reason: 'access_not_recorded',
    retryAfterSeconds: 1,
  });
  await expect(consent.history.listAccesses({}, session)).rejects.toMatchObject({ reason: 'unavailable' });
  expect(await readiness()).toBe(200);
  await consent.asGateway.revokeGrant({ id: grant.grantId }, session);
  await recordsProxy.restore();
  await eventually(async () => expect(await record(consent, accessOf(grant))).toBe(Verdict.GRANT_REVOKED));

  const other = await approve(consent, await registerApp(consent), 'outage');
  expect(await record(consent, accessOf(other))).toBe(Verdict.RELEASED);
  await ledgerProxy.cut();
  const requestId = 'recorded, not judged';
  await expect(record(consent, { ...accessOf(other), requestId })).rejects.toMatchObject({
    reason: 'access_not_recorded',
  });
  const { rows } = await owner.query('SELECT verdict FROM access_record WHERE request_id = $1', [requestId]);
  expect(rows).toEqual([{ verdict: null }]);
  expect(await readiness()).toBe(503);
  await ledgerProxy.restore();
  await eventually(async () => expect(await record(consent, accessOf(other))).toBe(Verdict.RELEASED));
  expect(await verifyRecords({ ...consent, database: records })).toMatchObject({ ok: true });
});

test('an erased person has no history, although the records stay', async () => {
  const grant = await approve(consent, await registerApp(consent), 'erased');
  await record(consent, accessOf(grant));
  await consent.asOperator.eraseUser({ userId: 'erased' });
  expect(await record(consent, accessOf(grant))).toBe(Verdict.GRANT_REVOKED);
  const { total } = await consent.history.listAccesses({}, await consent.session('erased'));
  expect(total).toBe(0);
  const { rows } = await owner.query(
    'SELECT count(*)::int AS n FROM access_record WHERE grant_id = $1 AND refers_to IS NULL',
    [grant.grantId],
  );
  expect(rows).toEqual([{ n: 2 }]);
});

test('records that a restore has lost are reported, and their chain is not continued', async () => {
  const grant = await approve(consent, await registerApp(consent), 'lost');
  await record(consent, accessOf(grant));
  const newest = async () =>
    (
      await owner.query(
        'SELECT tableoid::regclass::text AS part, writer FROM access_batch ORDER BY at DESC LIMIT 1',
      )
    ).rows[0];
  const { part, writer } = await newest();
  await owner.query(`ALTER TABLE ${part} DISABLE TRIGGER append_only`);
  await owner.query(`DELETE FROM ${part} WHERE writer = $1`, [writer]);
  await owner.query(`ALTER TABLE ${part} ENABLE TRIGGER append_only`);
  await eventually(async () => {
    expect(await record(consent, accessOf(grant))).toBe(Verdict.RELEASED);
    expect((await newest()).writer).not.toBe(writer);
  });
  const failures = await countFailures();
  await eventually(async () => expect(await countFailures()).toBeGreaterThan(failures));
});

test('a database without the records that were left in the other one, or without migrations, is not accepted', async () => {
  await using left = await createTestDatabase('consent');
  const leftOwner = openTestPool(left.ownerUrl, { max: 1 });
  await leftOwner.query(`INSERT INTO consent_audit.access_checkpoint (number, jws) VALUES (1000000, '')`);
  await leftOwner.end();
  const open = (ledger: string, elsewhere: string) =>
    openSmallPools(ledger, { RECORDS_DATABASE_URL: elsewhere });
  {
    await using pools = await open(left.url, records.url);
    await expect(pools.ping()).rejects.toThrow(/RECORDS_DATABASE_URL.*move them first/);
  }
  {
    await using empty = await createTestDatabase('health-data');
    await using pools = await open(left.url, empty.url);
    await expect(pools.ping()).rejects.toThrow(/RECORDS_DATABASE_URL.*no migrations/);
  }
  {
    // An outage of the server is not a wrong setting.
    await using pools = await open(left.url, 'postgresql://nobody@127.0.0.1:1/none');
    await pools.ping();
  }
});
