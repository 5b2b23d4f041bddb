import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { getMetric, METRICS, type MetricKey } from '@phds/catalog/metrics';
import { openPostgres, type Postgres } from '@phds/service-kit/postgres/postgres';
import { createTestDatabase, type TestDatabase } from '@phds/test-kit/databases';
import { toReadingId } from '../src/app/row-ids.ts';
import type { Range } from '../src/domain/window.ts';
import { POOL_SETTINGS } from '../src/store/database.ts';
import { createPgProfileWriter } from '../src/store/pg-profile-writer.ts';
import { createPgReadingWriter } from '../src/store/pg-reading-writer.ts';
import { createPgSummaries } from '../src/store/pg-summaries.ts';
import { createPgWeights } from '../src/store/pg-weights.ts';
import { PATIENT_SCANS } from './patient-scans.ts';

// For any window, a response from rollups equals the one from readings. Without rollup_state no rollups are used.

const USER = 'half-rolled-up';
const HOUR = 3_600_000;
const FIRST = Date.UTC(2025, 2, 27);
const DAYS = 7;

let database: TestDatabase;
let postgres: Postgres;
beforeAll(async () => {
  database = await createTestDatabase('health-data');
  postgres = openPostgres({
    connectionString: database.url,
    schema: database.schema,
    poolSize: 2,
    statementTimeoutMs: 20_000,
    connectTimeoutMs: 20_000,
    applicationName: 'rollup-reads',
    settings: POOL_SETTINGS,
  });
  await createPgProfileWriter(postgres.pool, () => undefined).put(USER, { timeZone: 'Europe/Berlin' });
  await createPgReadingWriter(postgres.pool, () => undefined).put(USER, [
    ...measure('heart-rate', { everyMinutes: 17, lastsMinutes: 0 }),
    ...measure('steps', { everyMinutes: 11, lastsMinutes: 5 }),
    ...measure('sleep', { everyMinutes: 170, lastsMinutes: 160 }),
    ...measure('weight', { everyMinutes: 700, lastsMinutes: 0 }),
  ]);
});
afterAll(async () => {
  await postgres[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

function measure(type: MetricKey, { everyMinutes, lastsMinutes }: Record<string, number>) {
  const metric = getMetric(type);
  return Array.from({ length: Math.trunc((DAYS * 24 * 60) / Number(everyMinutes)) }, (_, index) => {
    const startAt = new Date(FIRST + index * Number(everyMinutes) * 60_000 + 1);
    const endAt = new Date(startAt.getTime() + Number(lastsMinutes) * 60_000);
    const source = index % 3 === 0 ? 'iphone' : 'apple-watch';
    const reading = { metric, startAt, endAt, source, value: 60 + ((index * 7) % 83) };
    return { ...reading, id: toReadingId(USER, reading) };
  });
}

/** Windows between times about 17 hours apart: at full hours, within hours, at midnights, around the clock change. */
function* listWindows(): Generator<Range> {
  yield { from: null, to: null };
  for (let from = FIRST - HOUR; from < FIRST + DAYS * 24 * HOUR; from += 17.3 * HOUR) {
    for (const hours of [0.2, 1, 7.9, 24, 61.3])
      yield { from: new Date(from), to: new Date(from + hours * HOUR) };
    yield { from: null, to: new Date(from) };
    yield { from: new Date(Math.round(from / HOUR) * HOUR), to: null };
  }
}

async function answer(timeZone: string): Promise<string[]> {
  const summaries = createPgSummaries(postgres.pool, PATIENT_SCANS);
  const weights = createPgWeights(postgres.pool);
  const answers: unknown[] = [];
  for (const range of listWindows()) {
    for (const since of [null, new Date('2025-03-28T23:00:00Z')]) {
      const query = {
        askedBy: 'app_reads',
        userId: USER,
        timeZone,
        metrics: METRICS.map(({ key }) => key),
        range,
        since,
      };
      answers.push(query, await summaries.summarise(query));
      for (const bucket of ['day', 'hour'] as const) {
        answers.push(await summaries.trend({ ...query, bucket, limit: 9, offset: 0 }));
        answers.push(await summaries.trend({ ...query, bucket, limit: 9, offset: 13 }));
      }
    }
  }
  for (const offset of [0, 2, 5, 50]) {
    const query = {
      askedBy: 'app_reads',
      userId: USER,
      timeZone,
      dates: { from: null, to: null },
      since: null,
      limit: 3,
      offset,
    };
    answers.push(await weights.list(query));
  }
  return answers.map((one) => JSON.stringify(one));
}

test.each(['Europe/Berlin', 'America/New_York', 'Asia/Kolkata'])(
  'in %s responses are the same with rollups and without',
  async (timeZone) => {
    const withRollups = await answer(timeZone);
    const { rows } = await postgres.pool.query('DELETE FROM rollup_state RETURNING *');
    expect(rows).toHaveLength(1);
    expect(withRollups).toEqual(await answer(timeZone));
    const [{ user_id: userId, time_zone: zone, version }] = rows;
    await postgres.pool.query('INSERT INTO rollup_state VALUES ($1, $2, $3)', [userId, zone, version]);
  },
);

test('a summary from readings has its own time limit, one from rollups has that of the pool', async () => {
  const summaries = createPgSummaries(postgres.pool, { ...PATIENT_SCANS, statementTimeoutMs: 1 });
  const query = {
    askedBy: 'app_reads',
    userId: USER,
    metrics: METRICS.map(({ key }) => key),
    range: { from: null, to: null },
    since: null,
  };
  const inZone = (timeZone: string) => summaries.summarise({ ...query, timeZone });
  await expect(inZone('Asia/Kolkata')).rejects.toMatchObject({ reason: 'unavailable' });
  expect(await inZone('Europe/Berlin')).not.toEqual([]);
});
