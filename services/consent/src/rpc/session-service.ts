import { type EndSessionsRequest, SessionService } from '@phds/contracts/phds/consent/v1/sessions_pb';
import { invalidRequest } from '@phds/service-kit/errors';
import { implement } from '@phds/service-kit/rpc/service';
import { MAX_SESSION_LENGTH } from '@phds/service-kit/trust/session';
import type { SessionEnding, Sessions } from '../sessions.ts';
import { parseHash, parseMoment, parseName, parseText } from './parameters.ts';

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
