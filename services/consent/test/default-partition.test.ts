import { expect, test } from '@jest/globals';
import { Verdict } from '@phds/contracts/phds/consent/v1/access_pb';
import { eventually } from '@phds/test-kit/conditions';
import { FakeClock } from '@phds/test-kit/fake-clock';
import pg from 'pg';
import { startDatedRecorder } from './dated-recorder.ts';
import { makeMonth, monthAway, partitionsOf } from './months.ts';
import {
  accessOf,
  approve,
  type RunningService,
  record,
  registerApp,
  startConsent,
} from './running-service.ts';
import { verifyRecords } from './verify-command.ts';

const MONTHS_AHEAD = 4;
const ENSURE = `SELECT ensure_access_partitions(${MONTHS_AHEAD}) AS made`;
const TABLES = ['access_batch', 'access_record'];

async function connect(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString, options: '-c search_path=consent' });
  await client.connect();
  return client;
}

/** Number of rows in the default partitions. */
async function countUnplaced({ owner }: RunningService): Promise<number> {
  const { rows } = await owner.query(
    `SELECT ((SELECT count(*) FROM access_batch_default) + (SELECT count(*) FROM access_record_default))::int AS n`,
  );
  return rows[0].n;
}

/** Records an access at each of these times in one chain, independent of the database's clock. */
async function recordAt(
  { database }: RunningService,
  grant: Parameters<typeof accessOf>[0],
  times: (Date | string)[],
) {
  const clock = new FakeClock(times[0]);
  await using dated = startDatedRecorder(database.url, clock);
  for (const time of times) {
    clock.set(time);
    expect(await dated.recorder.record([accessOf(grant)])).toEqual(['released']);
  }
}

/** Starts a service whose tables lack a month too far ahead for the service to create. */
async function startIncomplete(): Promise<{ consent: RunningService; month: string }> {
  const consent = await startConsent();
  return { consent, month: await monthAway(consent.owner, MONTHS_AHEAD) };
}

/** As above, with two records dated in that month. */
async function startPolluted(): Promise<{ consent: RunningService; month: string }> {
  const { consent, month } = await startIncomplete();
  const grant = await approve(consent, await registerApp(consent), 'ada');
  const first = `${month.replace('_', '-')}-01T00:00:00Z`;
  await recordAt(consent, grant, [new Date(), first, `${month.replace('_', '-')}-28T23:59:59Z`]);
  expect(await countUnplaced(consent)).toBe(4);
  return { consent, month };
}

test('a month with records in the default partition can still be created, and they move to it', async () => {
  const { consent: started, month } = await startPolluted();
  await using consent = started;
  const runtime = await connect(consent.database.url);
  expect((await runtime.query(ENSURE)).rows).toEqual([{ made: 1 }]);
  for (const table of TABLES) expect(await partitionsOf(consent.owner, table)).toContain(month);
  expect(await countUnplaced(consent)).toBe(0);
  expect(await verifyRecords(consent)).toMatchObject({ ok: true, records: 3 });
  const { total } = await consent.history.listAccesses({}, await consent.session('ada'));
  expect(total).toBe(3);
  for (const table of [
    ...TABLES.map((name) => `${name}_default`),
    ...TABLES.map((name) => `${name}_${month}`),
  ]) {
    await expect(runtime.query(`DELETE FROM ${table}`)).rejects.toThrow(/permission denied/);
    await expect(consent.owner.query(`DELETE FROM ${table}`)).rejects.toThrow(/append-only/);
  }
  await runtime.end();
});

test('records in the default partition do not look like a manipulation once later months are dropped', async () => {
  await using consent = await startConsent({ settings: { RECORD_RETENTION_DAYS: '0' } });
  const grant = await approve(consent, await registerApp(consent), 'ada');
  await makeMonth(consent.owner, '2024_02');
  await recordAt(consent, grant, ['2023-05-15T12:00:00Z', '2024-02-15T12:00:00Z', new Date()]);
  expect(await countUnplaced(consent)).toBe(2);
  await using _second = await consent.startAnother({ RECORD_RETENTION_DAYS: '90' });
  await eventually(async () =>
    expect(await partitionsOf(consent.owner, 'access_record')).not.toContain('2024_02'),
  );
  await eventually(async () =>
    expect(await verifyRecords(consent)).toMatchObject({ ok: true, fault: null, records: 1 }),
  );
  expect(await countUnplaced(consent)).toBe(0);
});

test('records dated beyond the prepared months stay in the default partition and verify', async () => {
  await using consent = await startConsent();
  const grant = await approve(consent, await registerApp(consent), 'ada');
  const month = await monthAway(consent.owner, 7);
  await recordAt(consent, grant, [`${month.replace('_', '-')}-10T00:00:00Z`]);
  const runtime = await connect(consent.database.url);
  const ensure = async (ahead: number) =>
    (await runtime.query('SELECT ensure_access_partitions($1) AS made', [ahead])).rows[0].made;
  expect(await ensure(3)).toBe(0);
  expect(await verifyRecords(consent)).toMatchObject({ ok: true, records: 1 });
  // As time passes: first the months in between, one at a time, then its own.
  for (const ahead of [4, 5, 6, 7]) expect(await ensure(ahead)).toBe(1);
  expect(await ensure(7)).toBe(0);
  expect(await countUnplaced(consent)).toBe(0);
  expect(await verifyRecords(consent)).toMatchObject({ ok: true, records: 1 });
  await runtime.end();
});

test.each([
  ['that is empty', startIncomplete, 1],
  ['whose records move', startPolluted, 4],
])('accesses are recorded while a month is being created %s', async (_, start, records) => {
  const { consent: started } = await start();
  await using consent = started;
  const grant = await approve(consent, await registerApp(consent), 'bea');
  const owner = await connect(consent.database.ownerUrl);
  await owner.query('BEGIN');
  await owner.query(ENSURE);
  expect(await record(consent, accessOf(grant))).toBe(Verdict.RELEASED);
  await owner.query('COMMIT');
  await owner.end();
  expect(await verifyRecords(consent)).toMatchObject({ ok: true, records });
});

test('creating a month gives up after a quarter of a second behind a long read', async () => {
  const { consent: started } = await startIncomplete();
  await using consent = started;
  const reader = await connect(consent.database.ownerUrl);
  await reader.query('BEGIN');
  await reader.query('SELECT count(*) FROM access_record');
  const runtime = await connect(consent.database.url);
  // Less than the 3 s that the rest of the statement may wait for a lock, and long for a busy machine to reach that lock.
  await runtime.query('SET statement_timeout = 2500');
  await expect(runtime.query(ENSURE)).rejects.toMatchObject({ code: '55P03' });
  await reader.end();
  expect((await runtime.query(ENSURE)).rows).toEqual([{ made: 1 }]);
  await runtime.end();
});
