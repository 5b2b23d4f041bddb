import { randomBytes } from 'node:crypto';
import type { ClientCredentials as ClientCredentialsMessage } from '@phds/contracts/phds/authorization/v1/authorization_pb';
import type { Clock } from '@phds/service-kit/clock';
import { unauthorized } from '@phds/service-kit/errors';
import { isId } from '@phds/service-kit/ids';
import { translateDatabaseError } from '@phds/service-kit/postgres/errors';
import { equalHash, sha256 } from '@phds/service-kit/secrets';
import type { AssertionVerifier } from '@phds/service-kit/trust/client-assertion';
import { type App, type AppStore, isPublic, type PublicApps, usableKeysOf } from './app.ts';
import type { KeyFetching } from './key-fetching.ts';
import type { UseJwt } from './possession.ts';

/** The presented credentials; absent values were not sent. */
export type ClientCredentials =
  | Pick<ClientCredentialsMessage, 'clientId' | 'clientSecret' | 'clientAssertion'>
  | undefined;

/** The client according to the presented credentials. */
export interface PresentedClient {
  /** The app with this client id, whatever its status or the credential; null when there is none. */
  readonly app: App | null;
  /** Whether the app is active and the credential is right. */
  readonly authenticated: boolean;
  /** Whether a secret or an assertion was sent, even an empty one. */
  readonly credentialSent: boolean;
  /** Why the credential is refused, for the security log; empty when it is right. */
  readonly fault: string;
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
  /** Identifies the client, for requests that may omit the credential. */
  identify(credentials: ClientCredentials): Promise<PresentedClient>;
}

/**
 * Why a client is refused, for the security log; the answer is the same for all. The gateway knows by the beginning `assertion: ` that the app
 * exists, and shows its developer the rest.
 */
export function refusalOf({ app, fault }: PresentedClient): string {
  if (app === null) return 'unknown client';
  if (app.status !== 'active') return `client ${app.status}`;
  return fault;
}

/** Names the app in what is thrown after its authentication, except in `unauthorized`: for the limits of the gateway. */
export async function inNameOf<T>({ clientId }: Pick<App, 'clientId'>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    const error = translateDatabaseError(thrown);
    throw error.reason === 'unauthorized' ? error : error.inNameOf(clientId);
  }
}

/** A well-formed id of no app, looked up in place of malformed client ids. */
const NOBODY = 'app_0000000000000000000000';

/**
 * Client authentication with constant work, so that its duration does not reveal whether a client exists: one indexed look-up;
 * then one SHA-256 and one constant-time comparison with a real or a dummy hash, or one signature. The gateway adds a minimum duration.
 */
export function createClientAuthentication(dependencies: {
  readonly apps: Pick<AppStore, 'findCredential'>;
  readonly useJwt: UseJwt;
  readonly verifyAssertion: AssertionVerifier;
  readonly keyFetching: Pick<KeyFetching, 'want'>;
  readonly clock: Clock;
  readonly publicApps: PublicApps;
}): ClientAuthentication {
  const { apps, publicApps } = dependencies;
  const dummyHash = randomBytes(32);

  function findSecretFault(found: App | null, clientSecret: string | undefined): string {
    const hash = sha256(clientSecret ?? '');
    const isEqual = equalHash(hash, found?.secretHash ?? dummyHash);
    if (!clientSecret) return 'no secret';
    const method = found?.tokenEndpointAuthMethod ?? 'client_secret_basic';
    if (method !== 'client_secret_basic') return `a secret in place of ${method}`;
    return isEqual ? '' : 'wrong secret';
  }

  async function identify(credentials: ClientCredentials): Promise<PresentedClient> {
    const { clientId = '', clientSecret, clientAssertion } = credentials ?? {};
    const found = await apps.findCredential(isId('app', clientId) ? clientId : NOBODY);
    const fault =
      clientAssertion === undefined
        ? findSecretFault(found, clientSecret)
        : await findAssertionFault(dependencies, found, { clientId, clientAssertion });
    const app = found === null ? null : judgeType(found, publicApps);
    const credentialSent = clientSecret !== undefined || clientAssertion !== undefined;
    const isDoubled = clientAssertion !== undefined && clientSecret !== undefined;
    const authenticated = fault === '' && app?.status === 'active' && !isDoubled;
    return {
      app,
      authenticated,
      credentialSent,
      fault: isDoubled ? 'a secret and an assertion' : fault,
      isNamed: app?.status === 'active' && isPublic(app) && !credentialSent,
    };
  }

  return {
    identify,
    authenticate: async (credentials) => admit(await identify(credentials), 'named'),
    authenticateConfidential: async (credentials) => admit(await identify(credentials), 'proven'),
  };
}

/** An app as the deployment takes it; null for one that it refuses. */
function judgeType(app: App, publicApps: PublicApps): App | null {
  if (!isPublic(app) || publicApps === 'allowed') return app;
  return publicApps === 'refused' ? null : { ...app, dpopBoundAccessTokens: true };
}

function admit(client: PresentedClient, least: 'named' | 'proven'): App {
  const isAdmitted = client.authenticated || (least === 'named' && client.isNamed);
  if (client.app === null || !isAdmitted) throw unauthorized(refusalOf(client));
  return client.app;
}

/** Empty for a right one. */
async function findAssertionFault(
  { verifyAssertion, useJwt, keyFetching, clock }: Parameters<typeof createClientAuthentication>[0],
  found: App | null,
  { clientId, clientAssertion }: { readonly clientId: string; readonly clientAssertion: string },
): Promise<string> {
  const jwks = found === null ? '' : usableKeysOf(found, clock.now());
  const judged = await verifyAssertion(clientAssertion, { clientId, jwks });
  if ('fault' in judged) {
    if (judged.namesUnknownKey && found !== null && found.jwksUri !== '') keyFetching.want(clientId);
    return `assertion: ${judged.fault}`;
  }
  if (found?.status !== 'active') return '';
  const hash = sha256(`client assertion\0${clientId}\0${judged.jti}`);
  return (await useJwt(hash, judged.memorableUntil)) ? '' : 'assertion: it was used before';
}
