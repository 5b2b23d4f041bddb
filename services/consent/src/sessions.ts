import { type EndSessionsRequest, SessionService } from '@phds/contracts/phds/consent/v1/sessions_pb';
import { invalidRequest } from '@phds/service-kit/errors';
import { readStatement, runStatement } from '@phds/service-kit/postgres/sql';
import type { RestoreGuard } from '@phds/service-kit/restore/guard';
import { queryVerified } from '@phds/service-kit/restore/guard';
import { implement } from '@phds/service-kit/rpc/service';
import { sha256 } from '@phds/service-kit/secrets';
import { MAX_SESSION_LENGTH } from '@phds/service-kit/trust/session';
import type pg from 'pg';
import type { Change } from './changes.ts';
import { parseHash, parseMoment, parseName, parseText } from './parameters.ts';

const CHECK = readStatement(new URL('store/sql/check-session.sql', import.meta.url));
const INSERT_ENDS = readStatement(new URL('store/sql/insert-session-ends.sql', import.meta.url));

/** A person's session, as its token describes it. */
interface IssuedSession {
  /** SHA-256 of the token without its signature. */
  readonly tokenHash: Uint8Array;
  /** The session at the identity provider; null when the token names none. */
  readonly sid: string | null;
  readonly subject: string;
  readonly issuedAt: Date;
}

/** Which sessions end. Null names none. */
interface SessionEnding {
  readonly tokenHash: Uint8Array | null;
  readonly sid: string | null;
  /** Together with a sid: the subject's sessions without a sid. Alone: all of the subject. */
  readonly subject: string | null;
  /** Sessions of the sid or the subject that were issued in a later second go on. */
  readonly endedAt: Date;
}

interface Parts {
  readonly pools: { readonly checks: pg.Pool; readonly revocations: pg.Pool };
  readonly guard: RestoreGuard;
  readonly change: Change;
}

export type Sessions = ReturnType<typeof createSessions>;

/** The sessions that ended before they expire, in table `session_end`, in which the service can only insert. Only hashes are stored. */
export function createSessions({ pools: { checks, revocations }, guard, change }: Parts) {
  return {
    /** In effect when it returns; doing it twice has no further effect. */
    end: (ending: SessionEnding) => change('session', () => insertEnds(revocations, ending)),
    /** Sees every end that was added before the call. Used by every request of a person: one prepared statement, one snapshot. */
    async isEnded({ tokenHash, sid, subject, issuedAt }: IssuedSession): Promise<boolean> {
      const values = [Buffer.from(tokenHash), sid === null ? null : sha256(sid), sha256(subject), issuedAt];
      const rows = await guard.verified(() =>
        queryVerified<{ readonly ended: boolean }>(checks, guard, CHECK, values),
      );
      if (rows[0] === undefined) throw new Error('the check of a session returned no row');
      return rows[0].ended;
    },
  };
}

/** At most one of each kind, always in the same order, so that concurrent calls cannot deadlock. */
async function insertEnds(pool: pg.Pool, { tokenHash, sid, subject, endedAt }: SessionEnding): Promise<void> {
  const ends: [kind: string, hash: Uint8Array][] = [];
  if (tokenHash !== null) ends.push(['token', Buffer.from(tokenHash)]);
  if (sid !== null) ends.push(['sid', sha256(sid)]);
  if (subject !== null) ends.push([sid === null ? 'subject' : 'subject_without_sid', sha256(subject)]);
  const [kinds, hashes] = [ends.map(([kind]) => kind), ends.map(([, hash]) => hash)];
  await runStatement(pool, INSERT_ENDS, kinds, hashes, endedAt);
}

const GATEWAY = ['gateway'];

/** phds.consent.v1.SessionService. */
export function createSessionService(sessions: Sessions) {
  return implement(
    SessionService,
    {
      async endSessions(request) {
        await sessions.end(parseEnding(request));
        return {};
      },
      async checkSession({ tokenHash, sid, subject, issuedAt }) {
        const ended = await sessions.isEnded({
          tokenHash: parseHash('tokenHash', tokenHash),
          sid: findClaim('sid', sid),
          subject: parseName('subject', subject, MAX_SESSION_LENGTH),
          issuedAt: parseMoment('issuedAt', issuedAt),
        });
        return { ended };
      },
    },
    { endSessions: GATEWAY, checkSession: GATEWAY },
  );
}

function parseEnding({ tokenHash, sid, subject, endedAt }: EndSessionsRequest): SessionEnding {
  if (tokenHash.length === 0 && sid === '' && subject === '') {
    throw invalidRequest('tokenHash', 'is required if neither sid nor subject is given');
  }
  return {
    tokenHash: tokenHash.length === 0 ? null : parseHash('tokenHash', tokenHash),
    sid: findClaim('sid', sid),
    subject: findClaim('subject', subject),
    endedAt: parseMoment('endedAt', endedAt),
  };
}

/** Null when empty. */
function findClaim(parameter: string, text: string): string | null {
  return text === '' ? null : parseText(parameter, text, MAX_SESSION_LENGTH);
}
