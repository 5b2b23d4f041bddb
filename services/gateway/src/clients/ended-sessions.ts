import { timestampFromDate, timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import type { SessionService } from '@phds/contracts/phds/consent/v1/sessions_pb';
import { sha256 } from '@phds/service-kit/secrets';
import type { Session } from '@phds/service-kit/trust/session';

/** Sessions that ended before they expire, which consent stores. Every method throws `unavailable` when consent does not answer. */
export interface EndedSessions {
  isEnded(session: Session, jwt: string): Promise<boolean>;
  /** Ends this session, and the others of its `sid` that were issued until now. In effect at every gateway when it resolves. */
  end(session: Session, jwt: string, now: Date): Promise<void>;
  /** Ends the sessions that a logout token names. In effect at every gateway when it resolves. */
  endByLogout(logout: ProviderLogout): Promise<void>;
}

/** A verified logout token (OpenID Connect Back-Channel Logout 1.0 section 2.4). At least one of `sid` and `subject` is not null. */
export interface ProviderLogout {
  readonly sid: string | null;
  readonly subject: string | null;
  readonly issuedAt: Date;
}

export function createEndedSessions(
  sessions: Pick<Client<typeof SessionService>, 'checkSession' | 'endSessions'>,
): EndedSessions {
  return {
    async isEnded({ sid, subject, issuedAt }, jwt) {
      const { ended } = await sessions.checkSession({
        tokenHash: toTokenHash(jwt),
        sid: sid ?? '',
        subject,
        issuedAt: timestampFromDate(issuedAt),
      });
      return ended;
    },
    async end({ sid, issuedAt }, jwt, now) {
      const endedAt = timestampFromMs(Math.max(now.getTime(), issuedAt.getTime()));
      await sessions.endSessions({ tokenHash: toTokenHash(jwt), sid: sid ?? '', endedAt });
    },
    async endByLogout({ sid, subject, issuedAt }) {
      await sessions.endSessions({
        sid: sid ?? '',
        subject: subject ?? '',
        endedAt: timestampFromDate(issuedAt),
      });
    },
  };
}

/**
 * SHA-256 of what the signature covers. The signature is left out because it can be written in several ways: its last base64url
 * character has unused bits, and an ECDSA signature has a second form.
 */
function toTokenHash(jwt: string): Buffer {
  return sha256(jwt.slice(0, jwt.lastIndexOf('.')));
}
