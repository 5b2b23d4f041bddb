import { sha256 } from '@phds/service-kit/secrets';
import type { IssuedSession, SessionEnding } from '../domain/session.ts';
import type { SessionCheckStore, SessionEnd, SessionEndStore } from './ports.ts';

/** Sessions that ended before they expire. Ending is in effect when it returns and may be repeated. */
export interface Sessions {
  end(ending: SessionEnding): Promise<void>;
  isEnded(session: IssuedSession): Promise<boolean>;
}

export function createSessions(dependencies: {
  readonly ends: SessionEndStore;
  readonly checks: SessionCheckStore;
}): Sessions {
  const { ends, checks } = dependencies;
  return {
    end: (ending) => ends.add(toEnds(ending), ending.endedAt),
    isEnded: ({ tokenHash, sid, subject, issuedAt }) =>
      checks.isEnded({
        tokenHash,
        sidHash: sid === null ? null : sha256(sid),
        subjectHash: sha256(subject),
        issuedAt,
      }),
  };
}

/** At most one of each kind, always in the same order, so that concurrent calls cannot deadlock. */
function toEnds({ tokenHash, sid, subject }: SessionEnding): SessionEnd[] {
  const ends: SessionEnd[] = [];
  if (tokenHash !== null) ends.push({ kind: 'token', valueHash: tokenHash });
  if (sid !== null) ends.push({ kind: 'sid', valueHash: sha256(sid) });
  if (subject !== null) {
    ends.push({ kind: sid === null ? 'subject' : 'subject_without_sid', valueHash: sha256(subject) });
  }
  return ends;
}
