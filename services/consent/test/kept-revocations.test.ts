import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { type RunningService, startConsent } from './running-service.ts';

let consent: RunningService;
let runtime: pg.Client;

beforeAll(async () => {
  // Prunes at start-up only.
  consent = await startConsent({ settings: { PRUNE_INTERVAL_MS: '3600000' } });
  runtime = new pg.Client({ connectionString: consent.database.url, options: '-c search_path=consent' });
  await runtime.connect();
});
afterEach(() => consent.owner.query('DELETE FROM revoked_family; DELETE FROM revoked_token'));
afterAll(async () => {
  await runtime?.end();
  await consent?.[Symbol.asyncDispose]();
});

test.each([
  'DELETE FROM revoked_family',
  'DELETE FROM revoked_token',
  'TRUNCATE revoked_family',
  'TRUNCATE revoked_token',
  "UPDATE revoked_family SET revoked_at = '-infinity'",
  "UPDATE revoked_token SET revoked_at = '-infinity'",
  "UPDATE revoked_family SET family_id = ''",
  "UPDATE revoked_token SET token_hash = ''",
  "INSERT INTO revoked_family (family_id, expires_at, revoked_at) VALUES ('', now(), '-infinity')",
  "INSERT INTO revoked_token (token_hash, expires_at, revoked_at) VALUES ('', now(), '-infinity')",
  'DELETE FROM app',
  'DELETE FROM app_epoch',
  "UPDATE app_epoch SET started_at = 'infinity'",
])('the service itself cannot delete a revocation: %s', async (statement) => {
  await expect(runtime.query(statement)).rejects.toThrow(/permission denied for table/);
});

describe.each([
  {
    table: 'revoked_family',
    // A refresh token is valid for at most 30 days; after that nothing of the family is live.
    least: '32 days',
    insert: `INSERT INTO revoked_family (family_id, expires_at, revoked_at)
      SELECT 'fam_' || n, $1::timestamptz, $2::timestamptz FROM generate_series(1, $3::int) n`,
  },
  {
    table: 'revoked_token',
    least: '3 days',
    insert: `INSERT INTO revoked_token (token_hash, expires_at, revoked_at)
      SELECT sha256(n::text::bytea), $1::timestamptz, $2::timestamptz FROM generate_series(1, $3::int) n`,
  },
])('prune_$table', ({ table, least, insert }) => {
  const prune = async (keepDays: number | null, maxRows: number | null = 1_000): Promise<number> =>
    (await runtime.query(`SELECT prune_${table}($1, $2) AS pruned`, [keepDays, maxRows])).rows[0].pruned;
  const left = async () => (await consent.owner.query(`SELECT FROM ${table}`)).rowCount;
  /** Times in the past, by the database's clock. */
  const put = async (expired: string, revoked: string, rows = 1) => {
    const sql = 'SELECT now() - $1::interval AS expired, now() - $2::interval AS revoked';
    const { rows: times } = await consent.owner.query(sql, [expired, revoked]);
    await consent.owner.query(insert, [times[0].expired, times[0].revoked, rows]);
  };

  test.each([1, 0, -1, null])(
    'keeps revocations for two days beyond their expiry, even when called with %p',
    async (keepDays) => {
      await put('100 days', '100 days');
      await expect(prune(keepDays)).rejects.toThrow(/two days/);
      expect(await left()).toBe(1);
    },
  );

  test('deletes what expired before the retention period, and nothing later', async () => {
    await put('6 days 23 hours', '100 days');
    expect(await prune(7)).toBe(0);
    expect(await prune(6)).toBe(1);
    expect(await left()).toBe(0);
  });

  test(`deletes no revocation that is younger than ${least}, whatever expiry it was given`, async () => {
    await put('10000 days', `${least} -1 minute`);
    expect(await prune(2)).toBe(0);
    await consent.owner.query(`UPDATE ${table} SET revoked_at = revoked_at - interval '2 minutes'`);
    expect(await prune(2)).toBe(1);
  });

  test('deletes as many as requested, but never more than 5,000', async () => {
    await put('100 days', '100 days', 6_000);
    expect(await prune(7, 10)).toBe(10);
    expect(await prune(7, 1_000_000)).toBe(5_000);
    expect(await prune(7, null)).toBe(990);
  });

  test('can be called by the service only', async () => {
    const { rows } = await consent.owner.query(
      `SELECT has_function_privilege('public', 'prune_${table}(integer, integer)', 'EXECUTE') AS public`,
    );
    expect(rows).toEqual([{ public: false }]);
  });
});
