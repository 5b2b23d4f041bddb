import { randomBytes } from 'node:crypto';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from '@jest/globals';
import { newId } from '@phds/service-kit/ids';
import { eventually } from '@phds/test-kit/conditions';
import { openTestPool } from '@phds/test-kit/test-pool';
import { countLockWaits } from './database-clients.ts';
import { shareConsent } from './running-service.ts';

const consent = await shareConsent();

const ISSUED_AT = new Date('2026-03-01T12:00:00Z');
const at = (offsetMs: number) => timestampFromDate(new Date(ISSUED_AT.getTime() + offsetMs));
const NOW = at(0);

/** A session of a new person, issued at ISSUED_AT. */
function newSession() {
  return { tokenHash: randomBytes(32), sid: newId('sid'), subject: newId('usr'), issuedAt: NOW };
}

type TestSession = ReturnType<typeof newSession>;

const withoutSid = (session: TestSession) => ({ ...session, sid: '', tokenHash: randomBytes(32) });

async function isEnded(session: TestSession, service = consent.sessions): Promise<boolean> {
  return (await service.checkSession(session)).ended;
}

describe('a session', () => {
  test('is ended by its token, even if the clock that issued it was ahead, and no other of the same sid and person', async () => {
    const session = { ...newSession(), issuedAt: at(60_000) };
    await consent.sessions.endSessions({ tokenHash: session.tokenHash, endedAt: NOW });
    expect(await isEnded(session)).toBe(true);
    expect(await isEnded({ ...session, tokenHash: randomBytes(32) })).toBe(false);
  });

  test.each([
    { name: 'sid', ended: ({ sid }: TestSession) => ({ sid }) },
    { name: 'subject', ended: ({ subject }: TestSession) => ({ subject }) },
  ])(
    'is ended by its $name if it was issued before, or in the second of the end, and not if it was issued later',
    async ({ ended }) => {
      const session = newSession();
      await consent.sessions.endSessions({ ...ended(session), endedAt: NOW });
      expect(await isEnded({ ...session, issuedAt: at(-3_600_000) })).toBe(true);
      expect(await isEnded({ ...session, issuedAt: NOW })).toBe(true);
      expect(await isEnded({ ...session, issuedAt: at(999) })).toBe(true);
      expect(await isEnded({ ...session, issuedAt: at(1_000) })).toBe(false);
    },
  );

  test('is ended by its subject with and without a sid', async () => {
    const session = newSession();
    await consent.sessions.endSessions({ subject: session.subject, endedAt: NOW });
    expect(await isEnded(session)).toBe(true);
    expect(await isEnded(withoutSid(session))).toBe(true);
  });

  test('stays live when another session or another person is ended, or the other kind of name has its text', async () => {
    const session = newSession();
    const other = newSession();
    await consent.sessions.endSessions({ ...other, endedAt: NOW });
    await consent.sessions.endSessions({ subject: other.subject, endedAt: NOW });
    await consent.sessions.endSessions({ sid: session.subject, endedAt: NOW });
    await consent.sessions.endSessions({ subject: session.sid, endedAt: NOW });
    expect(await isEnded(session)).toBe(false);
    expect(await isEnded(withoutSid(session))).toBe(false);
  });

  test('of a new sign-in is not ended by repeating an old end', async () => {
    const session = newSession();
    const end = () => consent.sessions.endSessions({ subject: session.subject, endedAt: NOW });
    await end();
    const renewed = { ...session, tokenHash: randomBytes(32), issuedAt: at(5_000) };
    await end();
    expect(await isEnded(renewed)).toBe(false);
    expect(await isEnded(session)).toBe(true);
  });
});

test('an end of a sid with its subject covers that sid, and the sessions of the subject without a sid', async () => {
  const session = newSession();
  const { sid, subject } = session;
  await consent.sessions.endSessions({ sid, subject, endedAt: NOW });
  expect(await isEnded(session)).toBe(true);
  expect(await isEnded(withoutSid(session))).toBe(true);
  expect(await isEnded({ ...withoutSid(session), issuedAt: at(1_000) })).toBe(false);
  expect(await isEnded({ ...session, tokenHash: randomBytes(32), sid: newId('sid') })).toBe(false);
});

test('equal ends at the same time, and repeated ones, are all acknowledged and leave one row for each name', async () => {
  const { tokenHash, sid, subject } = newSession();
  const end = () => consent.sessions.endSessions({ tokenHash, sid, subject, endedAt: NOW });
  await Promise.all(Array.from({ length: 10 }, end));
  await end();
  const rows = await consent.rows(
    'SELECT kind FROM session_end WHERE value_hash IN ($1, sha256($2), sha256($3)) ORDER BY kind',
    tokenHash,
    Buffer.from(sid),
    Buffer.from(subject),
  );
  expect(rows.map(({ kind }) => kind)).toEqual(['sid', 'subject_without_sid', 'token']);
});

test('an end is acknowledged only after its commit, and every later check sees it', async () => {
  const session = newSession();
  const admin = openTestPool(consent.database.adminUrl, { max: 1 });
  const holder = await consent.owner.connect();
  try {
    await holder.query('BEGIN; LOCK TABLE session_end IN SHARE MODE');
    let acknowledged = false;
    const ending = consent.sessions.endSessions({ sid: session.sid, endedAt: NOW }).then(() => {
      acknowledged = true;
    });
    await eventually(async () => expect(await countLockWaits(admin)).toBe(1));
    // A round trip, in which an early acknowledgement would arrive.
    expect(await isEnded(session)).toBe(false);
    expect(acknowledged).toBe(false);
    await holder.query('COMMIT');
    await ending;
    expect(await isEnded(session)).toBe(true);
  } finally {
    holder.release(true);
    await admin.end();
  }
});

test('neither a sid nor a subject is stored in the clear', async () => {
  const { sid, subject } = newSession();
  await consent.sessions.endSessions({ sid, subject, endedAt: NOW });
  const rows = await consent.rows('SELECT s::text AS row FROM session_end s');
  const hexOf = (text: string) => Buffer.from(text).toString('hex');
  for (const text of [sid, subject, hexOf(sid), hexOf(subject)]) {
    expect(rows.filter(({ row }) => row.includes(text))).toEqual([]);
  }
});

const { endSessions, checkSession } = consent.sessions;
const ended = (request: object) => endSessions({ endedAt: NOW, ...request });
const { issuedAt: _, ...timeless } = newSession();

test.each<[string, string, () => Promise<unknown>]>([
  ['ends no session', 'tokenHash', () => ended({})],
  ['ends a session with a short hash', 'tokenHash', () => ended({ tokenHash: randomBytes(31) })],
  ['ends a session without a time', 'endedAt', () => endSessions({ sid: 'one' })],
  ['ends a sid that is too long', 'sid', () => ended({ sid: 'x'.repeat(4_097) })],
  [
    'checks a session without a hash',
    'tokenHash',
    () => checkSession({ ...newSession(), tokenHash: new Uint8Array() }),
  ],
  ['checks a session without a subject', 'subject', () => checkSession({ ...newSession(), subject: '' })],
  ['checks a session without a time', 'issuedAt', () => checkSession(timeless)],
])('a call that %s is refused and names %s', async (_name, parameter, call) => {
  await expect(call()).rejects.toMatchObject({ reason: 'invalid_request', violations: [{ parameter }] });
});
