import type { IncomingMessage, ServerResponse } from 'node:http';
import type { PageMessage } from '@phds/catalog/page-messages';
import type { Clock } from '@phds/service-kit/clock';
import type { Logger, SecurityLog } from '@phds/service-kit/telemetry/log';
import type { SessionVerifier } from '@phds/service-kit/trust/session';
import type { AccessTokens } from '../cache/access-tokens.ts';
import type { Backends } from '../clients/backends.ts';
import type { LogoutTokenVerifier } from '../clients/ended-sessions.ts';
import type { OpenidProvider } from '../clients/openid-provider.ts';
import type { Config } from '../config.ts';
import type { KnownClients, Limits } from '../limits/limits.ts';
import type { UsedProofs } from '../limits/used-proofs.ts';
import type { RefusalCounts } from '../usage/refusal-counts.ts';
import type { RequestLog } from '../usage/request-log.ts';
import type { SessionReader } from './credentials.ts';
import type { AttemptCookie } from './sign-in/attempt-cookie.ts';

/** Waits this many milliseconds; injected so that tests do not wait. */
export type Pause = (milliseconds: number) => Promise<void>;

/**
 * Measures a request until its answer is sent or its client is gone. `endpointOf` is called then, and returns the pattern of the matched
 * route, never the path; empty for none.
 */
export type MeasureRequest = (
  request: IncomingMessage,
  response: ServerResponse,
  endpointOf: () => string,
) => void;

/** What the pages of signing in and out need. */
export interface SignIn {
  readonly provider: OpenidProvider;
  readonly attempt: AttemptCookie;
  /** Verifies an ID token as the services will. */
  readonly verify: SessionVerifier;
  readonly verifyLogout: LogoutTokenVerifier;
}

/** The dependencies of the HTTP surfaces. */
export interface Gateway {
  readonly config: Config;
  readonly log: Logger;
  readonly security: SecurityLog;
  readonly clock: Clock;
  readonly pause: Pause;
  readonly measure: MeasureRequest;
  /** Whether requests can be answered. */
  readonly isReady: () => Promise<boolean>;
  readonly backends: Backends;
  readonly accessTokens: AccessTokens;
  readonly usedProofs: UsedProofs;
  readonly limits: Limits;
  /** Names a client's network without its address. */
  readonly networkOf: (address: string) => string;
  readonly knownClients: KnownClients;
  readonly refusals: Pick<RefusalCounts, 'add'>;
  readonly requests: Pick<RequestLog, 'add' | 'find'>;
  readonly readSession: SessionReader;
  /** Null when no OpenID provider is set. */
  readonly signIn: SignIn | null;
  /** Makes the document of the web app, with a message for its `message` element. Null when the web app is not built. */
  readonly webPage: ((nonce: string, message: PageMessage | null) => string) | null;
}
