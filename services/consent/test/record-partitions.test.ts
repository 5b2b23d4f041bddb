import { describe, expect, test } from '@jest/globals';
import { Verdict } from '@phds/contracts/phds/consent/v1/access_pb';
import { eventually } from '@phds/test-kit/conditions';
import { FakeClock } from '@phds/test-kit/fake-clock';
import { connect } from './database-clients.ts';
import { expectAppDays, makeMonth, monthAway, partitionsOf, startDatedRecorder } from './dated-records.ts';
import {
  accessOf,
  approve,
  type RunningService,
  record,
  registerApp,
  startConsent,
} from './running-service.ts';
import { verifyRecords } from './verify-command.ts';

/** Keeps the service from dropping an old month while the test prepares it. */
const KEEPS_ALL = { RECORD_RETENTION_DAYS: '0' };
const KEEPS_90_DAYS = { settings: { RECORD_RETENTION_DAYS: '90' } };
const OFTEN = { PRUNE_INTERVAL_MS: 20 };

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

/** Records accesses in a past month and now, under one grant. */
async function recordInMonth(consent: RunningService, month: string) {
  const grant = await approve(consent, await registerApp(consent), 'old-reader');
  const past = `${month.replace('_', '-')}-15T12:00:00Z`;
  await recordAt(consent, grant, [past, past, new Date()]);
  return grant;
}

test('future months are prepared at start-up, and a missing month is created again', async () => {
  await using consent = await startConsent();
  const months = await Promise.all([0, 1, 2, 3].map((months) => monthAway(consent.owner, months)));
  for (const table of ['access_batch', 'access_record']) {
    expect(await partitionsOf(consent.owner, table)).toEqual([...months, 'default']);
    await consent.owner.query(`DROP TABLE ${table}_${months[3]}`);
  }
  await using _second = await consent.startAnother();
  await eventually(async () => {
    expect(await partitionsOf(consent.owner, 'access_batch')).toEqual([...months, 'default']);
    expect(await partitionsOf(consent.owner, 'access_record')).toEqual([...months, 'default']);
  });
});

/** Days in the table of counts, whether or not they are shown. */
async function countedDays({ owner }: RunningService): Promise<string[]> {
  const { rows } = await owner.query(
    `SELECT DISTINCT to_char(day, 'YYYY-MM-DD') AS day FROM access_day ORDER BY 1`,
  );
  return rows.map((row) => row.day);
}

test('a month is as protected against changes as the whole table, for the service and the owner', async () => {
  await using consent = await startConsent();
  const month = await monthAway(consent.owner, 0);
  const runtime = await connect(consent.database.url);
  for (const table of [`access_record_${month}`, `access_batch_${month}`]) {
    for (const statement of [`UPDATE ${table} SET seq = 0`, `DELETE FROM ${table}`, `TRUNCATE ${table}`]) {
      await expect(runtime.query(statement)).rejects.toThrow(/permission denied/);
      await expect(consent.owner.query(statement)).rejects.toThrow(/append-only/);
    }
    await expect(runtime.query(`DROP TABLE ${table}`)).rejects.toThrow(/must be owner/);
    await expect(runtime.query(`INSERT INTO ${table} SELECT * FROM ${table}`)).rejects.toThrow(/permission/);
  }
  await runtime.end();
});

test('months are dropped one at a time, the oldest first, and never before 90 days', async () => {
  await using consent = await startConsent({ settings: KEEPS_ALL });
  const [oldest, old] = ['2024_02', '2024_03'];
  await makeMonth(consent.owner, old);
  await makeMonth(consent.owner, oldest);
  const kept = await Promise.all([0, 1, 2, 3].map((months) => monthAway(consent.owner, months)));
  const runtime = await connect(consent.database.url);
  const drop = async (keepDays: number | null) =>
    (await runtime.query('SELECT drop_access_partitions($1) AS month', [keepDays])).rows;
  for (const keepDays of [89, 0, -1, null]) await expect(drop(keepDays)).rejects.toThrow(/90 days/);
  expect(await drop(90)).toEqual([{ month: oldest }]);
  expect(await partitionsOf(consent.owner, 'access_batch')).toEqual([old, ...kept, 'default']);
  expect(await drop(90)).toEqual([{ month: old }]);
  expect(await drop(90)).toEqual([]);
  for (const table of ['access_batch', 'access_record'])
    expect(await partitionsOf(consent.owner, table)).toEqual([...kept, 'default']);
  await runtime.end();
});

test('old months are dropped with their counts; the rest verifies and the command reports what is missing', async () => {
  await using consent = await startConsent({ settings: KEEPS_ALL });
  const old = '2024_02';
  await makeMonth(consent.owner, old);
  const { grantId } = await recordInMonth(consent, old);
  const session = await consent.session('old-reader');
  const history = () => consent.history.listAccesses({}, session);
  expect((await history()).total).toBe(3);
  {
    await using _forEver = await consent.startAnother({ constants: OFTEN });
    await eventually(async () => expect((await verifyRecords(consent)).records).toBe(3));
    expect(await partitionsOf(consent.owner, 'access_record')).toContain(old);
  }
  await using _second = await consent.startAnother(KEEPS_90_DAYS);
  await eventually(async () => {
    expect(await partitionsOf(consent.owner, 'access_record')).not.toContain(old);
    expect(await verifyRecords(consent)).toMatchObject({ ok: true, records: 1 });
  });
  expect(await partitionsOf(consent.owner, 'access_batch')).not.toContain(old);
  const { accesses, total } = await history();
  expect(total).toBe(1);
  expect(accesses).toMatchObject([{ grantId, verdict: Verdict.RELEASED }]);
  const { grants } = await consent.asGateway.listGrants({}, session);
  expect(grants).toMatchObject([{ id: grantId, accessCount: 1 }]);
});

test('counts of a dropped month are hidden at once; deleting them delays nothing and is resumed if interrupted', async () => {
  await using consent = await startConsent({ settings: KEEPS_ALL, constants: { COUNT_INTERVAL_MS: 20 } });
  await makeMonth(consent.owner, '2024_02');
  const grant = await recordInMonth(consent, '2024_02');
  await eventually(async () => expect(await countedDays(consent)).toHaveLength(2));
  const [, today] = await countedDays(consent);
  const holder = await connect(consent.database.ownerUrl);
  await holder.query('BEGIN');
  await holder.query(`SELECT FROM access_day WHERE day = '2024-02-15' FOR UPDATE`);
  await using _second = await consent.startAnother({ ...KEEPS_90_DAYS, constants: OFTEN });
  await eventually(async () =>
    expect(await partitionsOf(consent.owner, 'access_record')).not.toContain('2024_02'),
  );
  expect(await record(consent, accessOf(grant))).toBe(Verdict.RELEASED);
  expect(await countedDays(consent)).toEqual(expect.arrayContaining(['2024-02-15']));
  const session = await consent.session('old-reader');
  expect(await consent.history.listAccesses({}, session)).toMatchObject({ total: 2 });
  const { grants } = await consent.asGateway.listGrants({}, session);
  expect(grants).toMatchObject([{ accessCount: 2 }]);
  const month = { from: '2024-02-01', to: '2024-02-29' };
  expect((await consent.history.listAccessDays(month, session)).days).toEqual([]);
  await eventually(async () => expect(await verifyRecords(consent)).toMatchObject({ ok: true, records: 2 }));
  await holder.end();
  await eventually(async () => expect(await countedDays(consent)).toEqual([today]));
  await expectAppDays(consent.owner);
});

test('counts are deleted with dropped months only, and never before 90 days', async () => {
  await using consent = await startConsent({ settings: KEEPS_ALL });
  const addCounts = (daysAgo: number[]) =>
    consent.owner.query(
      `WITH counted AS (
         INSERT INTO access_day (user_ref, grant_id, client_id, scope, endpoint, day, recorded, refused)
         SELECT gen_random_uuid(), '', 'app_' || ago % 3, '', '', (now() AT TIME ZONE 'UTC')::date - ago, 1, 0
         FROM unnest($1::int[]) ago RETURNING *
       )
       INSERT INTO app_day SELECT client_id, day, endpoint, sum(recorded), sum(refused) FROM counted GROUP BY 1, 2, 3`,
      [daysAgo],
    );
  await addCounts([200, 101, 100, 89, 0]);
  const runtime = await connect(consent.database.url);
  for (const statement of ['DELETE FROM access_day', 'TRUNCATE access_day', 'DELETE FROM app_day'])
    await expect(runtime.query(statement)).rejects.toThrow(/permission denied/);
  const deleteCounts = async (from = '-infinity') => {
    const before = (await countedDays(consent)).length;
    await runtime.query('SELECT delete_dropped_counts($1)', [from]);
    return before - (await countedDays(consent)).length;
  };
  const keptFrom = (daysAgo: number) =>
    consent.owner.query(
      `INSERT INTO consent_audit.access_dropped (writer, seq, at, hash, kept_from)
       SELECT gen_random_uuid(), 0, now(), '', date_trunc('day', now(), 'UTC') - make_interval(days => $1)`,
      [daysAgo],
    );
  expect(await deleteCounts()).toBe(0);
  await keptFrom(100);
  expect(await deleteCounts('today')).toBe(0);
  expect(await deleteCounts()).toBe(2);
  await keptFrom(-1);
  expect(await deleteCounts()).toBe(1);
  expect(await countedDays(consent)).toHaveLength(2);
  await expectAppDays(consent.owner);
  await runtime.end();
  // More than one deletion; the service continues until all are deleted.
  await addCounts(Array(11_000).fill(120));
  await using _second = await consent.startAnother();
  await eventually(async () => expect(await countedDays(consent)).toHaveLength(2));
  await eventually(() => expectAppDays(consent.owner));
});

const MONTHS_AHEAD = 4;
const ENSURE = `SELECT ensure_access_partitions(${MONTHS_AHEAD}) AS made`;
const TABLES = ['access_batch', 'access_record'];

/** Number of rows in the default partitions. */
async function countUnplaced({ owner }: RunningService): Promise<number> {
  const { rows } = await owner.query(
    `SELECT ((SELECT count(*) FROM access_batch_default) + (SELECT count(*) FROM access_record_default))::int AS n`,
  );
  return rows[0].n;
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

describe('the default partition', () => {
  test('a month with records in the default partition can still be created, and they move to it', async () => {
    const { consent: started, month } = await startPolluted();
    await using consent = started;
    const runtime = await connect(consent.database.url);
    expect((await runtime.query(ENSURE)).rows).toEqual([{ made: 1 }]);
    for (const table of TABLES) expect(await partitionsOf(consent.owner, table)).toContain(month);
    expect(await countUnplaced(consent)).toBe(0);
    expect(await verifyRecords(consent)).toMatchObject({ ok: true, records: 3 });
    const { total } = await consent.as('ada').listAccesses({});
    expect(total).toBe(3);
    await runtime.end();
  });

  test('records in the default partition do not look like a manipulation once later months are dropped', async () => {
    await using consent = await startConsent({ settings: { RECORD_RETENTION_DAYS: '0' } });
    const grant = await approve(consent, await registerApp(consent), 'ada');
    await makeMonth(consent.owner, '2024_02');
    await recordAt(consent, grant, ['2023-05-15T12:00:00Z', '2024-02-15T12:00:00Z', new Date()]);
    expect(await countUnplaced(consent)).toBe(2);
    await using _second = await consent.startAnother(KEEPS_90_DAYS);
    await eventually(async () =>
      expect(await partitionsOf(consent.owner, 'access_record')).not.toContain('2024_02'),
    );
    await eventually(async () =>
      expect(await verifyRecords(consent)).toMatchObject({ ok: true, fault: null, records: 1 }),
    );
    expect(await countUnplaced(consent)).toBe(0);
  });

  test('records dated beyond the prepared months stay in the default partition, are found and verify', async () => {
    await using consent = await startConsent();
    const grant = await approve(consent, await registerApp(consent), 'ada');
    const month = await monthAway(consent.owner, 7);
    await recordAt(consent, grant, [`${month.replace('_', '-')}-10T00:00:00Z`]);
    const runtime = await connect(consent.database.url);
    const ensure = async (ahead: number) =>
      (await runtime.query('SELECT ensure_access_partitions($1) AS made', [ahead])).rows[0].made;
    expect(await ensure(3)).toBe(0);
    expect(await countUnplaced(consent)).toBe(2);
    expect(await verifyRecords(consent)).toMatchObject({ ok: true, records: 1 });
    expect((await consent.as('ada').listAccesses({})).total).toBe(1);
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
});
