import { randomBytes } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterEach, describe, expect, test } from '@jest/globals';
import { newId } from '@phds/service-kit/ids';
import { eventually } from '@phds/test-kit/conditions';
import { createTestDatabase } from '@phds/test-kit/databases';
import { shared } from '@phds/test-kit/shared';
import { connect } from './database-clients.ts';
import { restoreCopy } from './restored-copy.ts';
import { openOwner, openPending, registerApp, shareConsent, startConsent } from './running-service.ts';

const consent = await shareConsent({
  constants: { PRUNE_INTERVAL_MS: 3_600_000, RESTORE_CHECK_INTERVAL_MS: 3_600_000 },
});
/** Without a service, whose first pruning would take rows away. */
const database = shared.use(await createTestDatabase('consent'));
const runtime = await connect(database.url);
shared.defer(() => runtime.end());
const owner = shared.adopt(openOwner(database), (pool) => pool.end());

describe('revocations', () => {
  afterEach(() => owner.query('DELETE FROM revoked_family; DELETE FROM revoked_token'));

  test.each([
    "UPDATE revoked_family SET revoked_at = '-infinity'",
    "UPDATE revoked_token SET revoked_at = '-infinity'",
    "UPDATE revoked_family SET family_id = ''",
    "UPDATE revoked_token SET token_hash = ''",
    "INSERT INTO revoked_family (family_id, expires_at, revoked_at) VALUES ('', now(), '-infinity')",
    "INSERT INTO revoked_token (token_hash, expires_at, revoked_at) VALUES ('', now(), '-infinity')",
    "INSERT INTO session_end (kind, value_hash, ended_at, recorded_at) VALUES ('sid', '', now(), '-infinity')",
  ])(
    'the service itself cannot date a revocation or an end of sessions, nor change whose revocation it is: %s',
    async (statement) => {
      await expect(runtime.query(statement)).rejects.toThrow(/permission denied for table/);
    },
  );

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
    const left = async () => (await owner.query(`SELECT FROM ${table}`)).rowCount;
    /** Times in the past, by the database's clock. */
    const put = async (expired: string, revoked: string, rows = 1) => {
      const sql = 'SELECT now() - $1::interval AS expired, now() - $2::interval AS revoked';
      const { rows: times } = await owner.query(sql, [expired, revoked]);
      await owner.query(insert, [times[0].expired, times[0].revoked, rows]);
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
      await owner.query(`UPDATE ${table} SET revoked_at = revoked_at - interval '2 minutes'`);
      expect(await prune(2)).toBe(1);
    });

    test('deletes as many as requested, but never more than 5,000', async () => {
      await put('100 days', '100 days', 6_000);
      expect(await prune(7, 10)).toBe(10);
      expect(await prune(7, 1_000_000)).toBe(5_000);
      expect(await prune(7, null)).toBe(990);
    });
  });
});

test.each(['prune_revoked_family(int, int)', 'prune_revoked_token(int, int)', 'prune_session_end(int)'])(
  '%s can be called by the service only',
  async (name) => {
    const rows = await consent.rows(`SELECT has_function_privilege('public', $1, 'EXECUTE') AS public`, name);
    expect(rows).toEqual([{ public: false }]);
  },
);

const INSERT = `INSERT INTO session_end (kind, value_hash, ended_at, recorded_at)
  SELECT 'sid', sha256(n::text::bytea), now() - $1::interval, now() - $2::interval FROM generate_series(1, $3::int) n`;
const put = (ended: string, recorded: string, rows = 1, to = owner) =>
  to.query(INSERT, [ended, recorded, rows]);
const left = async (of = owner) => (await of.query('SELECT FROM session_end')).rowCount;

describe('ends of sessions', () => {
  describe('prune_session_end', () => {
    afterEach(() => owner.query('DELETE FROM session_end'));

    const prune = async (maxRows: number | null = 1_000): Promise<number> =>
      (await runtime.query('SELECT prune_session_end($1) AS pruned', [maxRows])).rows[0].pruned;

    test('keeps an end for two days, in which every session that it covers expires', async () => {
      await put('100 days', '47 hours 59 minutes');
      await put('47 hours 59 minutes', '100 days');
      expect(await prune()).toBe(0);
      await owner.query(
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
  });

  describe('after a restore', () => {
    afterEach(() => consent.owner.query('DELETE FROM session_end'));

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
        const rows = await consent.rows('SELECT sum(position)::int AS sum FROM consent_audit.instance');
        return rows[0].sum as number;
      };
      const before = await position();
      await consent.sessions.endSessions({ subject: 'restored', endedAt: timestampFromMs(Date.now()) });
      expect(await position()).toBeGreaterThan(before);
    });
  });
});

describe('pruning in the background', () => {
  test('removes rows that can no longer matter, and no others', async () => {
    await using consent = await startConsent({ constants: { PRUNE_INTERVAL_MS: 20 } });
    const app = await registerApp(consent);
    const [oldPending, newPending] = [await openPending(consent, app), await openPending(consent, app)];
    const families = [newId('fam'), newId('fam')];
    const tokens = [randomBytes(32), randomBytes(32)];
    for (const familyId of families) await consent.revokeFamily(familyId);
    for (const tokenHash of tokens) await consent.revokeToken(tokenHash);
    await consent.owner.query(
      `UPDATE pending_approval SET created_at = now() - interval '31 days' WHERE id = $1`,
      [oldPending],
    );
    await consent.owner.query(
      `UPDATE revoked_family SET expires_at = now() - interval '8 days', revoked_at = now() - interval '38 days'
       WHERE family_id = $1`,
      [families[0]],
    );
    await consent.owner.query(
      `UPDATE revoked_token SET expires_at = now() - interval '8 days', revoked_at = now() - interval '8 days'
       WHERE token_hash = $1`,
      [tokens[0]],
    );
    await consent.owner.query(
      `UPDATE revoked_token SET expires_at = now() - interval '6 days' WHERE token_hash = $1`,
      [tokens[1]],
    );
    await put('1 hour', '1 hour', 1, consent.owner);
    await put('3 days', '3 days', 2_500, consent.owner);
    const left = async (column: string, table: string) =>
      (await consent.rows(`SELECT ${column} AS value FROM ${table}`)).map((row) => row.value);
    await eventually(async () => {
      expect(await left('id', 'pending_approval')).toEqual([newPending]);
      expect(await left('family_id', 'revoked_family')).toEqual([families[1]]);
      expect(await left('token_hash', 'revoked_token')).toEqual([tokens[1]]);
      expect(await left('kind', 'session_end')).toEqual(['sid']);
    });
  });

  test('works off a backlog at the start, skipping locked rows', async () => {
    await using database = await createTestDatabase('consent');
    await using resources = new AsyncDisposableStack();
    const owner = resources.adopt(openOwner(database), (pool) => pool.end());
    const holder = resources.adopt(await owner.connect(), (client) => client.release(true));
    // The service of this test is disposed of first, with its database and the connections to it.
    holder.on('error', () => undefined);
    await owner.query(
      `INSERT INTO revoked_token (token_hash, expires_at, revoked_at)
       SELECT sha256(n::text::bytea), now() - interval '8 days', now() - interval '8 days'
       FROM generate_series(1, 2500) AS n`,
    );
    await holder.query(`BEGIN; SELECT FROM revoked_token WHERE token_hash = sha256('1') FOR UPDATE`);
    const left = async () => (await owner.query('SELECT FROM revoked_token')).rowCount;
    // A round that a busy machine delays beyond its time limits is repeated.
    const constants = { PRUNE_INTERVAL_MS: 1_000 };
    await using consent = await startConsent({ database, constants });
    await using _another = await consent.startAnother({ constants });
    await eventually(async () => expect(await left()).toBe(1));
  });
});
