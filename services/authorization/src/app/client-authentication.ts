import { randomBytes } from 'node:crypto';
import type { Clock } from '@phds/service-kit/clock';
import { unauthorized } from '@phds/service-kit/errors';
import { isId } from '@phds/service-kit/ids';
import { equalHash, sha256 } from '@phds/service-kit/secrets';
import { type App, isPublic } from '../domain/app.ts';
import type { AppStore, Credential } from './ports.ts';

/** The presented credentials; absent values were not sent. */
export interface ClientCredentials {
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
}

/** The client according to the presented credentials. */
export interface PresentedClient {
  /** The app with this client id, whatever its status or the secret; null when there is none. */
  readonly app: App | null;
  /** Whether the app is active and the secret is right. */
  readonly authenticated: boolean;
  /** Whether a secret was sent, even an empty one. */
  readonly secretSent: boolean;
  /** Whether the app is active and public, and nothing was sent in its name but its client id, as everybody can. */
  readonly isNamed: boolean;
}

export interface ClientAuthentication {
  /**
   * The active app of these credentials, or the public app of this client id, which proves nothing. Throws the same `unauthorized` for
   * every other case.
   */
  authenticate(credentials: ClientCredentials): Promise<App>;
  /** The same without public apps. */
  authenticateConfidential(credentials: ClientCredentials): Promise<App>;
  /** Identifies the client, for requests that may omit the secret. */
  identify(credentials: ClientCredentials): Promise<PresentedClient>;
}

/** Why a client is refused, for the security log; the answer is the same for all. */
export function refusalOf({ app, secretSent }: PresentedClient): string {
  if (app === null) return 'unknown client';
  if (app.status !== 'active') return `client ${app.status}`;
  return secretSent ? 'wrong secret' : 'no secret';
}

/** A well-formed id of no app, looked up in place of malformed client ids. */
const NOBODY = 'app_0000000000000000000000';

/**
 * Client authentication with constant work, so that its duration does not reveal whether a client exists or has two secrets: one
 * indexed look-up, one SHA-256, and two constant-time comparisons, each with a real or a dummy hash. The gateway
 * adds a minimum duration.
 */
export function createClientAuthentication({
  apps,
  clock,
}: {
  readonly apps: AppStore;
  readonly clock: Clock;
}): ClientAuthentication {
  const dummyHash = randomBytes(32);

  function findPreviousHash(found: Credential | null): Uint8Array | null {
    const previous = found?.previous ?? null;
    return previous !== null && previous.expiresAt > clock.now() ? previous.hash : null;
  }

  async function identify(credentials: ClientCredentials): Promise<PresentedClient> {
    const { clientId = '', clientSecret } = credentials;
    const found = await apps.findCredential(isId('app', clientId) ? clientId : NOBODY);
    const hash = sha256(clientSecret ?? '');
    const equalsCurrent = equalHash(hash, found?.secretHash ?? dummyHash);
    const equalsPrevious = equalHash(hash, findPreviousHash(found) ?? dummyHash);
    const app = found?.app ?? null;
    return {
      app,
      authenticated: (equalsCurrent || equalsPrevious) && Boolean(clientSecret) && app?.status === 'active',
      secretSent: clientSecret !== undefined,
      isNamed: app?.status === 'active' && isPublic(app) && clientSecret === undefined,
    };
  }

  return {
    identify,
    async authenticate(credentials) {
      const client = await identify(credentials);
      if (client.app === null || !(client.authenticated || client.isNamed))
        throw unauthorized(refusalOf(client));
      return client.app;
    },
    async authenticateConfidential(credentials) {
      const client = await identify(credentials);
      if (client.app === null || !client.authenticated) throw unauthorized(refusalOf(client));
      return client.app;
    },
  };
}
