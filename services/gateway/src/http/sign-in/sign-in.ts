import type { SessionVerifier } from '@phds/service-kit/trust/session';
import type { LogoutTokenVerifier } from '../../clients/logout-tokens.ts';
import type { OpenidProvider } from '../../clients/openid-provider.ts';
import type { AttemptCookies } from './attempt-cookies.ts';

/** What the pages of signing in and out need. */
export interface SignIn {
  readonly provider: OpenidProvider;
  readonly attempts: AttemptCookies;
  /** Verifies an ID token as the services will. */
  readonly verify: SessionVerifier;
  readonly verifyLogout: LogoutTokenVerifier;
}
