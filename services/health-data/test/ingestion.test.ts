import type { MessageInitShape } from '@bufbuild/protobuf';
import { describe, expect, test } from '@jest/globals';
import { Endpoint } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { HealthRecordKind, type HealthRecordSchema } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import { eventually } from '@phds/test-kit/conditions';
import { BAD_USER_IDS, GOOD_USER_IDS } from '@phds/test-kit/user-ids';
import { USER_TABLES } from '../src/erasure.ts';
import { at, bodyOf, reading, reasonOf, refusalOf, shareHarness, startHarness } from './harness.ts';
import { recordsOf } from './one-of-each.ts';

const harness = await shareHarness();

async function heartOf(userId: string) {
  return bodyOf(
    await harness.reads.read(
      { endpoint: Endpoint.HEALTH_DATA, category: 'heart' },
      await harness.about(userId),
    ),
  );
}

describe('PutReadings', () => {
  test('is idempotent by natural key, and the newest value is kept', async () => {
    const batch = [60, 61, 62].map((value, index) =>
      reading('Heart Rate', `2026-01-02T10:0${index}:00Z`, value),
    );
    expect(await harness.putReadings('again', batch)).toMatchObject({
      inserted: 3,
      updated: 0,
      unchanged: 0,
    });
    expect(await harness.putReadings('again', batch)).toMatchObject({
      inserted: 0,
      updated: 0,
      unchanged: 3,
    });
    const before = await heartOf('again');
    const corrected = [reading('heart rate', '2026-01-02T10:00:00Z', 70), ...batch.slice(1)];
    expect(await harness.putReadings('again', corrected)).toMatchObject({
      inserted: 0,
      updated: 1,
      unchanged: 2,
    });
    const after = await heartOf('again');
    expect(after.pagination.total).toBe(3);
    expect(after.data.map(({ id }: { id: string }) => id)).toEqual(
      before.data.map(({ id }: { id: string }) => id),
    );
    expect(after.data[2].value).toBe(70);
  });

  test('within a batch the last of a key is kept and the others count as unchanged', async () => {
    const values = [60, 61, 62].map((value) => reading('Heart Rate', '2026-01-02T10:00:00Z', value));
    expect(await harness.putReadings('twice', values)).toMatchObject({
      inserted: 1,
      updated: 0,
      unchanged: 2,
    });
    expect((await heartOf('twice')).data).toMatchObject([{ value: 62 }]);
  });

  test('refuses items by index with a reason and stores the rest', async () => {
    const start = '2026-01-02T10:00:00Z';
    const good = reading('Heart Rate', start, 60);
    const result = await harness.putReadings('refused', [
      good,
      reading('Aura', start, 1),
      reading('Heart Rate', start, 301),
      reading('Heart Rate', start, 60, { end: '2026-01-02T09:59:59Z' }),
      reading('Heart Rate', '2026-03-02T12:00:00.001Z', 60),
      { type: 'Heart Rate', start: at(start), source: 'iphone' },
      reading('Heart Rate', start, 60, { unit: 'kg' }),
      reading('Heart Rate', start, 60, { source: "Simon's iPhone" }),
      { type: 'Heart Rate', value: 60, source: 'iphone' },
      reading('Heart Rate', start, Number.NaN),
      reading('Heart Rate', '1890-01-01T00:00:00Z', 60),
      reading('Heart Rate', '2026-03-02T12:00:00Z', 60),
      reading('Sleep', '2026-01-01T10:00:00Z', 60, { end: '2026-01-02T10:00:00.001Z' }),
      reading('Sleep', '2026-01-01T10:00:00Z', 60, { end: start }),
      reading('Steps', '2026-01-01T09:00:00Z', 60, { end: start }),
    ]);
    expect(result.refusals.map(({ index, reason }) => [index, reason])).toEqual([
      [1, 'unknown type'],
      [2, 'value is outside the plausible range 20 to 300 /min'],
      [3, 'end is before start'],
      [4, 'start is more than 24 hours in the future'],
      [5, 'value is missing'],
      [6, 'unit cannot be converted to /min'],
      [7, 'source must be a label such as apple-watch, at most 40 characters'],
      [8, 'start is missing'],
      [9, 'value is not a number'],
      [10, 'start is before 1900'],
      [12, 'interval is longer than a day'],
    ]);
    expect(result).toMatchObject({ inserted: 4, updated: 0, unchanged: 0 });
  });

  test.each([
    ['somebody', [], 'readings'],
    ['somebody', Array(5_001).fill(reading('Heart Rate', '2026-01-02T10:00:00Z', 60)), 'readings'],
  ])('an invalid batch for user %j is refused as a whole', async (userId, readings, parameter) => {
    const refusal = await refusalOf(harness.putReadings(userId, readings));
    expect(refusal.reason).toBe('invalid_request');
    expect(refusal.violations[0]?.parameter).toBe(parameter);
  });
});

describe('DeleteReadings', () => {
  test('an invalid key or window is named and nothing is deleted', async () => {
    await harness.putReadings('kept', [reading('Heart Rate', '2026-01-02T10:00:00Z', 60)]);
    const refusal = await refusalOf(
      harness.ingestion.deleteReadings({
        userId: 'kept',
        windows: [{ type: 'Heart Rate' }, { type: 'Heart Rate', from: { seconds: 2n ** 60n } }],
      }),
    );
    expect(refusal.violations).toEqual([{ parameter: 'windows[1]', message: 'window is no time' }]);
    expect((await heartOf('kept')).pagination.total).toBe(1);
  });

  test('more windows than a call may contain are refused with the limit, and nothing is deleted', async () => {
    await harness.putReadings('bounded', [reading('Heart Rate', '2026-01-02T10:00:00Z', 60)]);
    const windows = Array.from({ length: 101 }, () => ({ type: 'Heart Rate' }));
    const refusal = await refusalOf(harness.ingestion.deleteReadings({ userId: 'bounded', windows }));
    expect(refusal.violations).toEqual([{ parameter: 'windows', message: 'must hold at most 100 items' }]);
    expect((await heartOf('bounded')).pagination.total).toBe(1);
  });
});

describe('PutProfile', () => {
  test('names every invalid field and changes nothing', async () => {
    const draft = { gender: 'robot', dateOfBirth: '1990-13-01', bloodType: 'C+', timeZone: 'Mars/Olympus' };
    const refusal = await refusalOf(harness.ingestion.putProfile({ userId: 'wrong', name: 'Ada', ...draft }));
    expect(refusal.violations.map(({ parameter }) => parameter)).toEqual(Object.keys(draft));
    const { data } = bodyOf(
      await harness.reads.read({ endpoint: Endpoint.PROFILE }, await harness.about('wrong')),
    );
    expect(data.name).toBeNull();
  });

  test('a default time zone is used only for a person without one', async () => {
    const put = (profile: object) => harness.ingestion.putProfile({ userId: 'roams', ...profile });
    const zoneAfter = async (profile: object) => {
      await put(profile);
      return bodyOf(
        await harness.reads.read({ endpoint: Endpoint.AGGREGATIONS }, await harness.about('roams')),
      ).data.timeZone;
    };
    expect(await zoneAfter({ name: 'Ada', defaultTimeZone: 'Europe/Berlin' })).toBe('Europe/Berlin');
    expect(await zoneAfter({ defaultTimeZone: 'Asia/Tokyo' })).toBe('Europe/Berlin');
    expect(await zoneAfter({ timeZone: 'America/New_York', defaultTimeZone: 'Asia/Tokyo' })).toBe(
      'America/New_York',
    );
    expect(await zoneAfter({ timeZone: '' })).toBe('UTC');
    expect(await zoneAfter({ defaultTimeZone: 'Asia/Tokyo' })).toBe('Asia/Tokyo');
    const refusal = await refusalOf(put({ defaultTimeZone: 'Mars/Olympus' }));
    expect(refusal.violations.map(({ parameter }) => parameter)).toEqual(['defaultTimeZone']);
  });
});

describe('EraseUser', () => {
  test('removes everything of one person and nothing of others, and can be repeated', async () => {
    for (const userId of ['erased', 'stays']) {
      await harness.putReadings(userId, [reading('Heart Rate', '2026-01-02T10:00:00Z', 60)]);
      await harness.putHealthRecords(userId, [
        { key: 'm', source: 'ehr', record: { case: 'medication', value: { name: 'A' } } },
      ]);
      await harness.ingestion.putProfile({ userId, name: userId });
    }
    await harness.ingestion.eraseUser({ userId: 'erased' });
    await harness.ingestion.eraseUser({ userId: 'erased' });
    for (const table of USER_TABLES) {
      const { rows } = await harness.owner.query(
        `SELECT count(*)::int FROM ${table} WHERE user_id = 'erased'`,
      );
      expect([table, rows[0].count]).toEqual([table, 0]);
    }
    expect((await heartOf('stays')).pagination.total).toBe(1);
  });

  test('covers every table with a user', async () => {
    const { rows } = await harness.owner.query<{ name: string }>(
      "SELECT table_name AS name FROM information_schema.columns WHERE table_schema = $1 AND column_name = 'user_id'",
      [harness.database.schema],
    );
    expect(rows.map(({ name }) => name).sort()).toEqual([...USER_TABLES].sort());
  });
});

type HealthRecordMessage = MessageInitShape<typeof HealthRecordSchema>;

const PAST = at('2026-01-02T10:00:00Z');

/** One record of each kind, with the same key. */
const batch: HealthRecordMessage[] = recordsOf('a').map((record) => ({ key: 'a', source: 'ehr', record }));
const ALLERGY: HealthRecordMessage['record'] = {
  case: 'allergy',
  value: { name: 'Pollen', severity: 'severe' },
};

describe('PutHealthRecords', () => {
  test('is idempotent for every kind; changed content updates the same record', async () => {
    expect(await harness.putHealthRecords('ada', batch)).toMatchObject({
      inserted: 9,
      updated: 0,
      unchanged: 0,
      refusals: [],
    });
    expect(await harness.putHealthRecords('ada', batch)).toMatchObject({
      inserted: 0,
      updated: 0,
      unchanged: 9,
    });
    const symptom = { description: 'Cough', timestamp: PAST };
    const changed: HealthRecordMessage[] = [
      { key: 'a', source: 'ehr', record: { case: 'symptom', value: symptom } },
      ...batch.slice(1),
    ];
    expect(await harness.putHealthRecords('ada', changed)).toMatchObject({
      inserted: 0,
      updated: 1,
      unchanged: 8,
    });
    const { data, pagination } = bodyOf(
      await harness.reads.read({ endpoint: Endpoint.SYMPTOMS }, await harness.about('ada')),
    );
    expect(data).toMatchObject([{ description: 'Cough', severity: null }]);
    expect(pagination.total).toBe(1);
  });

  test('the same key of another kind, source or user is a different record', async () => {
    const condition = { case: 'condition', value: { name: 'Asthma' } } as const;
    const result = await harness.putHealthRecords('grace', [
      { key: 'x', source: 'ehr', record: ALLERGY },
      { key: 'x', source: 'ehr', record: condition },
      { key: 'x', source: 'manual', record: ALLERGY },
      { key: 'x', source: 'manual', record: ALLERGY },
    ]);
    expect(result).toMatchObject({ inserted: 3, unchanged: 1 });
    expect(
      await harness.putHealthRecords('linus', [{ key: 'x', source: 'ehr', record: ALLERGY }]),
    ).toMatchObject({
      inserted: 1,
    });
  });

  test('refuses items by index with a reason and stores the rest', async () => {
    const value = (record: HealthRecordMessage['record']): HealthRecordMessage => ({
      key: 'k',
      source: 'ehr',
      record: record!,
    });
    const result = await harness.putHealthRecords('refused', [
      { key: 'k', source: 'ehr' },
      { key: '', source: 'ehr', record: ALLERGY },
      { key: 'k', source: 'EHR', record: ALLERGY },
      value({ case: 'symptom', value: { description: ' ', timestamp: PAST } }),
      value({ case: 'symptom', value: { description: 'x', severity: 'awful', timestamp: PAST } }),
      value({ case: 'symptom', value: { description: 'x' } }),
      value({ case: 'symptom', value: { description: 'x', timestamp: at('2027-01-01T00:00:00Z') } }),
      value({ case: 'adherenceEntry', value: { medicationKey: 'm', status: 'taken' } }),
      value({ case: 'condition', value: { name: 'x', sinceDate: '2019-13' } }),
      value({ case: 'appointment', value: { title: 'x', dateTime: '2026-05-01T09:00:00' } }),
      value({ case: 'moodEntry', value: { mood: 'great', timestamp: PAST } }),
      value({
        case: 'report',
        value: { generatedAt: PAST, from: '2026-01-02', to: '2026-01-01', summary: 'x' },
      }),
      value({
        case: 'ehrRecord',
        value: { resourceType: 'Procedure', summary: 'x'.repeat(501), timestamp: PAST },
      }),
      value({ case: 'allergy', value: { name: 'nul\u0000l' } }),
      value({ case: 'medication', value: { name: 'x', pattern: 'SOMETIMES' } }),
      value(ALLERGY),
    ]);
    expect(result.inserted).toBe(1);
    const reasons = result.refusals.map(({ reason }) => reason);
    expect(result.refusals.map(({ index }) => index)).toEqual(
      Array.from({ length: 15 }, (_, index) => index),
    );
    expect(reasons.map((reason) => reason.split(' must be one of')[0])).toEqual([
      'record is missing',
      'key is missing',
      'source must be a label such as apple-watch, at most 40 characters',
      'description is missing',
      'severity',
      'timestamp is missing',
      'timestamp is more than 24 hours in the future',
      'scheduledAt and takenAt are both missing',
      'sinceDate must be YYYY, YYYY-MM or YYYY-MM-DD',
      'dateTime must be RFC 3339 with an offset',
      'mood',
      'to is before from',
      'summary is longer than 500 characters',
      'name holds control characters',
      'pattern',
    ]);
  });
});

describe('DeleteHealthRecords', () => {
  test('deletes every kind by natural key, once; a medication is deleted with its doses', async () => {
    await harness.putHealthRecords('gone', batch);
    const kinds = Object.values(HealthRecordKind).filter((kind) => typeof kind === 'number' && kind > 0);
    const keys = kinds.map((kind) => ({ kind: kind as HealthRecordKind, source: 'ehr', key: 'a' }));
    const medication = keys.filter(({ kind }) => kind === HealthRecordKind.MEDICATION);
    expect((await harness.ingestion.deleteHealthRecords({ userId: 'gone', keys: medication })).deleted).toBe(
      1,
    );
    expect((await harness.ingestion.deleteHealthRecords({ userId: 'gone', keys })).deleted).toBe(7);
    expect((await harness.ingestion.deleteHealthRecords({ userId: 'gone', keys })).deleted).toBe(0);
  });

  test('an unknown kind is named', async () => {
    const keys = [{ kind: 99 as HealthRecordKind, source: 'ehr', key: 'x' }];
    const refusal = await refusalOf(harness.ingestion.deleteHealthRecords({ userId: 'gone', keys }));
    expect(refusal.violations).toEqual([{ parameter: 'keys[0]', message: 'unknown kind' }]);
  });
});

describe('user ids', () => {
  const READINGS = [reading('Heart Rate', '2026-01-02T10:00:00Z', 60)];

  test.each(BAD_USER_IDS)('nothing is stored or erased for a user id %s', async (_, userId) => {
    for (const call of [harness.putReadings(userId, READINGS), harness.ingestion.eraseUser({ userId })]) {
      expect(await refusalOf(call)).toMatchObject({
        reason: 'invalid_request',
        violations: [{ parameter: 'userId' }],
      });
    }
  });

  test.each(GOOD_USER_IDS)('readings for a user id %s are stored, read and erased', async (_, userId) => {
    expect(await harness.putReadings(userId, READINGS)).toMatchObject({ inserted: 1 });
    expect((await heartOf(userId)).pagination.total).toBe(1);
    await harness.ingestion.eraseUser({ userId });
    expect((await heartOf(userId)).pagination.total).toBe(0);
  });
});

const isWaiting = async () => {
  const { rowCount } = await harness.owner.query(`
    SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`);
  return rowCount === 1;
};

test('an erasure completes even if its caller gives up', async () => {
  const userId = 'given-up';
  const heart = reading('Heart Rate', '2026-01-02T10:00:00Z', 60);
  await harness.putReadings(userId, [heart]);
  await harness.owner.query('BEGIN');
  await harness.owner.query("SELECT pg_advisory_xact_lock(hashtextextended('health-data ' || $1, 0))", [
    userId,
  ]);
  const patience = new AbortController();
  const reason = reasonOf(harness.ingestion.eraseUser({ userId }, { signal: patience.signal }));
  await eventually(isWaiting);
  patience.abort();
  expect(await reason).toBe('unavailable');
  // On the same connection, so the service has noticed by now that the caller gave up.
  await harness.putReadings('another', [heart]);
  await harness.owner.query('COMMIT');
  await eventually(async () => {
    const { rowCount } = await harness.owner.query('SELECT FROM reading WHERE user_id = $1', [userId]);
    expect(rowCount).toBe(0);
  });
});

test('waiting importers leave connections for reads', async () => {
  await using small = await startHarness({ DATABASE_POOL_SIZE: '2' });
  // As another replica that writes for the same person.
  const key = "hashtextextended('health-data waiting', 0)";
  await small.owner.query(`SELECT pg_advisory_lock(${key})`);
  const one = [reading('Heart Rate', '2026-01-02T10:00:00Z', 60)];
  const puts = Array.from({ length: 12 }, (_, n) =>
    small.putReadings(n % 2 === 0 ? 'waiting' : `other-${n}`, one),
  );
  const read = await small.reads.read(
    { endpoint: Endpoint.HEALTH_DATA, category: 'heart' },
    await small.about('reader'),
  );
  expect(bodyOf(read).pagination.total).toBe(0);
  await small.owner.query(`SELECT pg_advisory_unlock(${key})`);
  const results = await Promise.all(puts);
  expect(results.map(({ inserted }) => inserted).toSorted()).toEqual([
    ...Array(5).fill(0),
    ...Array(7).fill(1),
  ]);
});
