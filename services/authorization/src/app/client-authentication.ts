import { randomBytes } from 'node:crypto';
import type { Clock } from '@phds/service-kit/clock';
import { unauthorized } from '@phds/service-kit/errors';
import { isId } from '@phds/service-kit/ids';
import { equalHash, sha256 } from '@phds/service-kit/secrets';
import { type App, isPublic, usableKeysOf } from '../domain/app.ts';
import type { KeyFetching } from './key-fetching.ts';
import type { AppStore, AssertionVerifier, Credential, UsedJwts } from './ports.ts';

/** The presented credentials; absent values were not sent. */
export interface ClientCredentials {
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
  /** A JWT signed with a key of the app, in place of the secret (RFC 7523 section 2.2). */
  readonly clientAssertion?: string | undefined;
}

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
  /** As authenticate, but an assertion is not used up by it: for a check before the call itself. */
  check(credentials: ClientCredentials): Promise<App>;
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

/** A well-formed id of no app, looked up in place of malformed client ids. */
const NOBODY = 'app_0000000000000000000000';

/**
 * Client authentication with constant work, so that its duration does not reveal whether a client exists or has two secrets: one
 * indexed look-up; then one SHA-256 and two constant-time comparisons, each with a real or a dummy hash, or one signature. The gateway
 * adds a minimum duration.
 */
export function createClientAuthentication(dependencies: {
  readonly apps: Pick<AppStore, 'findCredential' | 'noteKeyUses'>;
  readonly usedJwts: UsedJwts;
  readonly verifyAssertion: AssertionVerifier;
  readonly keyFetching: Pick<KeyFetching, 'want'>;
  readonly clock: Clock;
  /** Takes the failures of noting the use of a key, for which nobody waits. */
  readonly onFailure: (error: unknown) => void;
}): ClientAuthentication {
  const { apps, clock } = dependencies;
  const dummyHash = randomBytes(32);
  const noteKeyUse = createKeyUses(dependencies);

  function findSecretFault(found: Credential | null, clientSecret: string | undefined): string {
    const hash = sha256(clientSecret ?? '');
    const equalsCurrent = equalHash(hash, found?.secretHash ?? dummyHash);
    const equalsPrevious = equalHash(hash, findPreviousHash(found, clock.now()) ?? dummyHash);
    if (!clientSecret) return 'no secret';
    const method = found?.app.tokenEndpointAuthMethod ?? 'client_secret_basic';
    if (method !== 'client_secret_basic') return `a secret in place of ${method}`;
    return equalsCurrent || equalsPrevious ? '' : 'wrong secret';
  }

  async function identify(credentials: ClientCredentials, use: boolean): Promise<PresentedClient> {
    const { clientId = '', clientSecret, clientAssertion } = credentials;
    const found = await apps.findCredential(isId('app', clientId) ? clientId : NOBODY);
    const { fault, jkt } =
      clientAssertion === undefined
        ? { fault: findSecretFault(found, clientSecret), jkt: '' }
        : await judgeAssertion(dependencies, found, { clientId, clientAssertion, use });
    const app = found?.app ?? null;
    const credentialSent = clientSecret !== undefined || clientAssertion !== undefined;
    const isDoubled = clientAssertion !== undefined && clientSecret !== undefined;
    const authenticated = fault === '' && app?.status === 'active' && !isDoubled;
    if (use && authenticated && jkt !== '') noteKeyUse(app, jkt);
    return {
      app,
      authenticated,
      credentialSent,
      fault: isDoubled ? 'a secret and an assertion' : fault,
      isNamed: app?.status === 'active' && isPublic(app) && !credentialSent,
    };
  }

  return {
    identify: (credentials) => identify(credentials, true),
    authenticate: async (credentials) => admit(await identify(credentials, true), 'named'),
    authenticateConfidential: async (credentials) => admit(await identify(credentials, true), 'proven'),
    check: async (credentials) => admit(await identify(credentials, false), 'named'),
  };
}

function admit(client: PresentedClient, least: 'named' | 'proven'): App {
  const isAdmitted = client.authenticated || (least === 'named' && client.isNamed);
  if (client.app === null || !isAdmitted) throw unauthorized(refusalOf(client));
  return client.app;
}

function findPreviousHash(found: Credential | null, now: Date): Uint8Array | null {
  const previous = found?.previous ?? null;
  return previous !== null && previous.expiresAt > now ? previous.hash : null;
}

const HOUR_MS = 3_600_000;
/** More than an app has keys. */
const KEPT_USES = 10;

/** Notes that a key has authenticated an app: at most once an hour, and not within the call. */
function createKeyUses({
  apps,
  clock,
  onFailure,
}: Parameters<typeof createClientAuthentication>[0]): (app: App, jkt: string) => void {
  const underWay = new Set<string>();
  return ({ clientId, keyUses }, jkt) => {
    const now = clock.now();
    const last = keyUses[jkt];
    const isRecent = last !== undefined && now.getTime() - Date.parse(last) < HOUR_MS;
    if (isRecent || underWay.has(clientId)) return;
    underWay.add(clientId);
    // One that a concurrent call notes and this overwrites is noted at its next use.
    const uses = Object.entries({ ...keyUses, [jkt]: now.toISOString() });
    const latest = uses.toSorted(([, a], [, b]) => b.localeCompare(a)).slice(0, KEPT_USES);
    void apps
      .noteKeyUses(clientId, Object.fromEntries(latest))
      .catch(onFailure)
      .finally(() => underWay.delete(clientId));
  };
}

interface PresentedAssertion {
  readonly clientId: string;
  readonly clientAssertion: string;
  /** Whether this is the one use. */
  readonly use: boolean;
}

/** `jkt` is the thumbprint of the key if the assertion is right. */
async function judgeAssertion(
  { verifyAssertion, usedJwts, keyFetching, clock }: Parameters<typeof createClientAuthentication>[0],
  found: Credential | null,
  { clientId, clientAssertion, use }: PresentedAssertion,
): Promise<{ readonly fault: string; readonly jkt: string }> {
  const jwks = found === null ? '' : usableKeysOf(found.app, clock.now());
  const securityProfile = found?.app.securityProfile ?? '';
  const judged = await verifyAssertion(clientAssertion, { clientId, jwks, securityProfile });
  if ('fault' in judged) {
    if (judged.namesUnknownKey && found !== null && found.app.jwksUri !== '') keyFetching.want(clientId);
    return { fault: `assertion: ${judged.fault}`, jkt: '' };
  }
  const { jkt } = judged;
  if (found?.app.status !== 'active') return { fault: '', jkt };
  const hash = sha256(`client assertion\0${clientId}\0${judged.jti}`);
  const isNew = use ? await usedJwts.use(hash, judged.memorableUntil) : !(await usedJwts.isUsed(hash));
  return { fault: isNew ? '' : 'assertion: it was used before', jkt };
}
