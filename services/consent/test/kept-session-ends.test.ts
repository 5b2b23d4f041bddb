import { randomBytes } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '@phds/test-kit/conditions';
import pg from 'pg';
import { restoreCopy } from './restored-copy.ts';
import { type RunningService, startConsent } from './running-service.ts';

let consent: RunningService;
let runtime: pg.Client;

beforeAll(async () => {
  // Prunes at start-up only. The check of restores runs only when a call needs it.
  consent = await startConsent({
    settings: { PRUNE_INTERVAL_MS: '3600000', RESTORE_CHECK_INTERVAL_MS: '3600000' },
  });
  runtime = new pg.Client({ connectionString: consent.database.url, options: '-c search_path=consent' });
  await runtime.connect();
});
afterEach(() => consent.owner.query('DELETE FROM session_end'));
afterAll(async () => {
  await runtime?.end();
  await consent?.[Symbol.asyncDispose]();
});

const INSERT = `INSERT INTO session_end (kind, value_hash, ended_at, recorded_at)
  SELECT 'sid', sha256(n::text::bytea), now() - $1::interval, now() - $2::interval FROM generate_series(1, $3::int) n`;
const put = (ended: string, recorded: string, rows = 1) =>
  consent.owner.query(INSERT, [ended, recorded, rows]);
const left = async (owner = consent.owner) => (await owner.query('SELECT FROM session_end')).rowCount;

test.each([
  'DELETE FROM session_end',
  'TRUNCATE session_end',
  "UPDATE session_end SET ended_at = '-infinity'",
  "UPDATE session_end SET value_hash = ''",
  "INSERT INTO session_end (kind, value_hash, ended_at, recorded_at) VALUES ('sid', '', now(), '-infinity')",
])('the service itself cannot delete or change an end of sessions: %s', async (statement) => {
  await expect(runtime.query(statement)).rejects.toThrow(/permission denied for table/);
});

describe('prune_session_end', () => {
  const prune = async (maxRows: number | null = 1_000): Promise<number> =>
    (await runtime.query('SELECT prune_session_end($1) AS pruned', [maxRows])).rows[0].pruned;

  test('keeps an end for two days, in which every session that it covers expires', async () => {
    await put('100 days', '47 hours 59 minutes');
    await put('47 hours 59 minutes', '100 days');
    expect(await prune()).toBe(0);
    await consent.owner.query(
      "UPDATE session_end SET recorded_at = recorded_at - interval '2 minutes', ended_at = ended_at - interval '2 minutes'",
    );
    expect(await prune()).toBe(2);
    expect(await left()).toBe(0);
  });

  test('deletes as many as requested, but never more than 5,000', async () => {
    await put('3 days', '3 days', 6_000);
    expect(await prune(10)).toBe(10);
    expect(await prune(1_000_000)).toBe(5_000);
    expect(await prune(null)).toBe(990);
  });

  test('can be called by the service only', async () => {
    const { rows } = await consent.owner.query(
      "SELECT has_function_privilege('public', 'prune_session_end(integer)', 'EXECUTE') AS public",
    );
    expect(rows).toEqual([{ public: false }]);
  });
});

test('the service prunes ends of sessions in the background, and no younger ones', async () => {
  await put('3 days', '3 days', 2_500);
  await put('1 hour', '1 hour');
  await using _pruning = await consent.startAnother({ PRUNE_INTERVAL_MS: '1000' });
  await eventually(async () => expect(await left()).toBe(1));
});

describe('after a restore', () => {
  const newSession = (issuedAtMs: number) => ({
    tokenHash: randomBytes(32),
    sid: randomBytes(8).toString('hex'),
    subject: 'restored',
    issuedAt: timestampFromMs(issuedAtMs),
  });
  const anHour = 3_600_000;

  test('no earlier session is live until an operator confirms, and a new sign-in works at once', async () => {
    const earlier = newSession(Date.now() - anHour);
    const later = newSession(Date.now() + anHour);
    const isEnded = async (session: typeof earlier) => (await consent.sessions.checkSession(session)).ended;
    expect(await isEnded(earlier)).toBe(false);
    const { restore } = await consent.restores.declareRestore({});
    expect(await isEnded(earlier)).toBe(true);
    expect(await isEnded(later)).toBe(false);
    await consent.restores.confirmRestore({ number: restore?.number ?? 0 });
    expect(await isEnded(earlier)).toBe(false);
  });

  test('a session whose end the backup lacks is not live', async () => {
    const session = newSession(Date.now() - anHour);
    const copy = await restoreCopy(consent.owner);
    await consent.sessions.endSessions({ sid: session.sid, endedAt: timestampFromMs(Date.now()) });
    await using restored = await startConsent({ database: copy });
    expect(await left(restored.owner)).toBe(0);
    expect((await restored.sessions.checkSession(session)).ended).toBe(true);
  });

  test('an end is acknowledged by the proof that a restored database lacks', async () => {
    const position = async () => {
      const { rows } = await consent.owner.query(
        'SELECT sum(position)::int AS sum FROM consent_audit.instance',
      );
      return rows[0].sum as number;
    };
    const before = await position();
    await consent.sessions.endSessions({ subject: 'restored', endedAt: timestampFromMs(Date.now()) });
    expect(await position()).toBeGreaterThan(before);
  });
});
