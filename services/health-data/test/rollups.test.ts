import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { applyMigrations } from '@phds/service-kit/postgres/migrations';
import { createTestDatabase } from '@phds/test-kit/databases';
import pg from 'pg';
import { type RollupHarness, readKept, row, startRollupHarness } from './rollup-harness.ts';
import { computeKept } from './rollup-reference.ts';

const MIGRATIONS = join(import.meta.dirname, '../prisma/migrations');

let harness: RollupHarness;
beforeAll(async () => {
  harness = await startRollupHarness();
});
afterAll(async () => {
  await harness[Symbol.asyncDispose]();
});

describe('the tables derived from readings', () => {
  test('are correct under concurrent importers, deletions and moves of zone', async () => {
    const minutes = Array.from({ length: 600 }, (_, n) =>
      new Date(Date.UTC(2025, 9, 25, 20, n)).toISOString(),
    );
    const batch = minutes.map((start, n) => row('heart-rate', start, 40 + (n % 100)));
    const steps = minutes.map((start, n) =>
      row('steps', start, n % 7, { source: n % 2 === 0 ? 'iphone' : 'apple-watch' }),
    );
    // From here on rollups are maintained, not built.
    await harness.put('at-once', [row('weight', '2025-10-25T20:00:00Z', 80)]);
    await Promise.all([
      ...Array.from({ length: 20 }, (_, n) =>
        harness.put('at-once', n % 2 === 0 ? [...batch, ...steps] : [...steps, ...batch].toReversed()),
      ),
      ...Array.from({ length: 5 }, (_, n) => harness.remove('at-once', batch.slice(n * 50, n * 50 + 100))),
      harness.profiles.put('at-once', { timeZone: 'Europe/Berlin' }),
    ]);
    await harness.expectKept('at-once', 'Europe/Berlin');
  });

  test('contain nothing of deleted readings', async () => {
    const rows = [
      row('heart-rate', '2025-01-01T10:00:00Z', 60),
      row('steps', '2024-02-29T10:00:00Z', 60),
      row('sleep', '2024-12-31T23:00:00Z', 60, { end: '2025-01-01T07:00:00Z' }),
    ];
    await harness.put('gone', rows);
    expect(await harness.keptOf('gone')).toHaveLength(3 * (5 + 5));
    await harness.remove('gone', rows.slice(0, 1));
    await harness.remove(
      'gone',
      [],
      [
        { metric: 'steps', source: null, range: { from: null, to: null } },
        { metric: 'sleep', source: 'iphone', range: { from: null, to: null } },
      ],
    );
    expect(await harness.keptOf('gone')).toEqual([]);
  });
});

test('a zone that Postgres does not know is refused and changes nothing', async () => {
  await harness.profiles.put('martian', { timeZone: 'Europe/Berlin' });
  await expect(
    harness.profiles.put('martian', { name: 'Ada', timeZone: 'Mars/Olympus' }),
  ).rejects.toMatchObject({
    reason: 'invalid_request',
    violations: [{ parameter: 'timeZone', message: 'must be an IANA time zone' }],
  });
  const { rows } = await harness.pool.query("SELECT name, time_zone FROM profile WHERE user_id = 'martian'");
  expect(rows).toEqual([{ name: null, time_zone: 'Europe/Berlin' }]);
});

test('the migration counts existing readings', async () => {
  const first = await mkdtemp(join(tmpdir(), 'phds-migrations-'));
  try {
    await cp(join(MIGRATIONS, '0001_init'), join(first, '0001_init'), { recursive: true });
    await using old = await createTestDatabase('health-data', { migrations: first });
    const owner = new pg.Client({
      connectionString: old.ownerUrl,
      options: `-c search_path=${old.schema} -c timezone=Asia/Kathmandu`,
    });
    await owner.connect();
    await owner.query(`
      INSERT INTO reading SELECT 'user-' || n % 2, gen_random_uuid(), 'ecg', 'heart', at, at, nullif(n % 3, 0), 'iphone'
      FROM generate_series(1, 200) AS n, LATERAL (SELECT '2024-12-20'::timestamptz + n * interval '7 hours' AS at) AS moment`);
    await owner.query(
      "INSERT INTO reading_count VALUES ('user-0', 'heart', 'ecg', 100), ('user-1', 'heart', 'ecg', 100)",
    );
    await applyMigrations({ connectionString: old.ownerUrl, schema: old.schema, directory: MIGRATIONS });
    await owner.query("SET timezone = 'UTC'");
    const kept = await readKept(owner, 'user-1');
    const { rows: stored } = await owner.query("SELECT * FROM reading WHERE user_id = 'user-1'");
    await owner.end();
    const readings = stored.map(({ start_at }) => row('ecg', start_at.toISOString(), null));
    expect(readings).toHaveLength(100);
    expect(kept).toEqual(computeKept(readings, 'UTC'));
  } finally {
    await rm(first, { recursive: true });
  }
});
