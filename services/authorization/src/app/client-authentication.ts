import { randomBytes } from 'node:crypto';
import { unauthorized } from '@phds/service-kit/errors';
import { isId } from '@phds/service-kit/ids';
import { equalHash, sha256 } from '@phds/service-kit/secrets';
import type { App } from '../domain/app.ts';
import type { AppStore } from './ports.ts';

/** How an app presents itself; absent means not sent. */
export interface ClientCredentials {
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
}

/** Who is asking, as far as the credentials tell. */
export interface PresentedClient {
  /** The app of that client id, whatever its status and the secret; null when there is none. */
  readonly app: App | null;
  /** The app is active and the secret is its own. */
  readonly authenticated: boolean;
  /** A secret was sent, be it empty. */
  readonly secretSent: boolean;
}

export interface ClientAuthentication {
  /** The active app of these credentials; throws `unauthorized` for every other cause alike. */
  authenticate(credentials: ClientCredentials): Promise<App>;
  /** What the credentials tell, for requests that may do without a secret. */
  identify(credentials: ClientCredentials): Promise<PresentedClient>;
}

/** Well-formed and nobody's: what is looked up in place of a client id that cannot be one. */
const NOBODY = 'app_0000000000000000000000';

/**
 * Client authentication. The same work whatever is presented, so that its time does not tell an existing client from a
 * missing one: one indexed look-up, one SHA-256, one constant-time comparison with the real or a dummy hash (contract
 * section 2). The gateway adds a floor on top.
 */
export function createClientAuthentication({ apps }: { apps: AppStore }): ClientAuthentication {
  const dummyHash = randomBytes(32);

  async function identify(credentials: ClientCredentials): Promise<PresentedClient> {
    const { clientId = '', clientSecret } = credentials;
    const found = await apps.findCredential(isId('app', clientId) ? clientId : NOBODY);
    const equal = equalHash(sha256(clientSecret ?? ''), found?.secretHash ?? dummyHash);
    const app = found?.app ?? null;
    return {
      app,
      authenticated: equal && Boolean(clientSecret) && app?.status === 'active',
      secretSent: clientSecret !== undefined,
    };
  }

  return {
    identify,
    async authenticate(credentials) {
      const { app, authenticated } = await identify(credentials);
      if (app === null || !authenticated) throw unauthorized('client authentication');
      return app;
    },
  };
}
