import { createHash, randomBytes } from 'node:crypto';
import type { Client } from '@connectrpc/connect';
import { AppService } from '@phds/contracts/phds/authorization/v1/apps_pb';
import { AuthorizationService } from '@phds/contracts/phds/authorization/v1/authorization_pb';
import { AppOperatorService } from '@phds/contracts/phds/authorization/v1/operator_pb';
import { TokenService } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { RestoreService } from '@phds/contracts/phds/common/v1/restore_pb';
import type { AppStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { AppError, type Reason } from '@phds/service-kit/errors';
import { openRpcChannel } from '@phds/service-kit/rpc/client';
import { REASON_METADATA, SESSION_METADATA } from '@phds/service-kit/rpc/context';
import { startRpcServer } from '@phds/service-kit/rpc/server';
import { createLogger } from '@phds/service-kit/telemetry/log';
import { createServiceTokenSource, createServiceTokenVerifier } from '@phds/service-kit/trust/callers';
import { createSessionVerifier } from '@phds/service-kit/trust/session';
import { createTestDatabase } from '@phds/test-kit/databases';
import { FakeClock } from '@phds/test-kit/fake-clock';
import { createServiceKeys } from '@phds/test-kit/service-keys';
import { createSessionIssuer } from '@phds/test-kit/session-issuer';
import { shared } from '@phds/test-kit/shared';
import pg from 'pg';
import { type CONSTANTS, readEnvironment } from '../src/config.ts';
import { createService, type Overrides } from '../src/service.ts';
import { FakeConsent } from './fake-consent.ts';
import { createFakeServices } from './fake-consent-rpcs.ts';

export const OPERATOR = 'operator:on-call';
export const ISSUER = 'https://phds.test';
export const REDIRECT_URI = 'https://app.test/callback?tenant=7';
export const HEART = 'read:health-data:heart';
export const SLEEP = 'read:health-data:sleep';

/** A registered app with its secret. */
export interface TestApp {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** The real service with its own database, an in-memory consent service, and a fake clock. */
export type Harness = Awaited<ReturnType<typeof startHarness>>;

interface ObtainCode {
  readonly scope?: string;
  readonly state?: string;
  readonly codeChallenge?: string;
  readonly includeGrantedScopes?: string;
  readonly approved?: string[];
  readonly expiresInDays?: number;
  readonly redirectUri?: string;
  readonly userId?: string;
}

interface Exchange {
  readonly redirectUri: string;
  readonly codeVerifier: string;
  readonly dpop: string;
}

/** Starts a harness for all tests of the file. */
export const shareHarness = async (...options: Parameters<typeof startHarness>) =>
  shared.use(await startHarness(...options));

export async function startHarness(
  settings: Record<string, string> = {},
  overrides: Overrides = {},
  constants: Partial<typeof CONSTANTS> = {},
) {
  await using stack = new AsyncDisposableStack();
  const clock = new FakeClock();
  const lines: string[] = [];
  const log = createLogger({
    service: 'authorization',
    level: 'trace',
    destination: { write: (line: string) => void lines.push(line) },
  });
  const keys = createServiceKeys([
    'gateway',
    'authorization',
    'health-data',
    'consent',
    OPERATOR,
    'service:billing',
  ]);
  const sessions = await createSessionIssuer({ clock });
  const { issuer, audience, jwks } = sessions;
  const consent = new FakeConsent(
    clock,
    createSessionVerifier({ issuer, audience: [audience], jwks, clock }),
  );
  const consentServer = stack.use(
    await startRpcServer({
      services: createFakeServices(consent),
      verifyCaller: createServiceTokenVerifier({ service: 'consent', publicKeys: keys.jwks, clock }),
      log: createLogger({ service: 'consent', level: 'silent' }),
      host: '127.0.0.1',
      rpcPort: 0,
      probePort: null,
      health: async () => true,
    }),
  );
  const database = stack.use(await createTestDatabase('authorization'));
  const environment = {
    DATABASE_URL: database.url,
    RPC_PORT: '0',
    PROBE_PORT: '0',
    SERVICE_PRIVATE_KEY: keys.pem('authorization'),
    SERVICE_PUBLIC_KEYS: keys.jwks,
    SESSION_ISSUER: issuer,
    SESSION_AUDIENCE: audience,
    SESSION_JWKS: jwks,
    CONSENT_ADDRESS: `127.0.0.1:${consentServer.rpcPort}`,
    ISSUER,
    DERIVATION_KEY: randomBytes(32).toString('base64'),
    ASSERTION_PRIVATE_KEY: keys.pem('authorization'),
    DEADLINE_FACTOR: '10',
    DEVELOPERS: 'anyone',
    APP_APPROVAL: 'none',
    ...settings,
  };
  const config = { ...readEnvironment(environment), RESTORE_CHECK_INTERVAL_MS: 3_600_000, ...constants };
  const service = stack.use(await createService(config, { clock, log, ...overrides }));
  const tokenSourceOf = (name: string) =>
    createServiceTokenSource({ service: name, privateKeyPem: keys.pem(name), clock });
  const openAt = (rpcPort: number, caller: string, metadata: Record<string, string> = {}) =>
    openRpcChannel({
      address: `127.0.0.1:${rpcPort}`,
      audience: 'authorization',
      tokens: tokenSourceOf(caller),
      deadlineMs: 20_000,
      metadata,
    });
  const open = (caller: string, metadata?: Record<string, string>) =>
    stack.use(openAt(service.rpcPort, caller, metadata));
  const channel = open('gateway');
  const operator = open(OPERATOR, { [REASON_METADATA]: 'a%20test' });
  const base = {
    clock,
    consent,
    database,
    apps: channel.client(AppService),
    authorizations: channel.client(AuthorizationService),
    tokens: channel.client(TokenService),
    tokensAsService: open('service:billing').client(TokenService),
    /** With the role operator, like `restores` and `operatedApps`. */
    operated: operator.client(AuthorizationService),
    restores: operator.client(RestoreService),
    operatedApps: operator.client(AppOperatorService),
    address: `127.0.0.1:${service.rpcPort}`,
    /** A service token of this caller. */
    callAs: (name: string) => tokenSourceOf(name)('authorization'),
    /** Everything that the service has logged so far. */
    logged: () => lines.join(''),
    /** Call options with a session of this person. */
    as: async (userId: string, claims: Readonly<Record<string, unknown>> = {}) => ({
      headers: { [SESSION_METADATA]: await sessions.issueSession(userId, { claims }) },
    }),
  };
  const running = stack.move();
  /** A connection to the database until the end, as the owner of the tables or the administrator. */
  const connect = async (as: 'owner' | 'admin' = 'owner') => {
    const connectionString = as === 'owner' ? database.ownerUrl : database.adminUrl;
    const options = `-c search_path=${database.schema}`;
    const client = running.adopt(new pg.Client({ connectionString, options }), (it) => it.end());
    await client.connect();
    return client;
  };
  /** The tokens of another instance on the same database, with further settings. */
  const startInstance = async (more: Record<string, string>) => {
    const settings = readEnvironment({ ...environment, ...more });
    const { rpcPort } = running.use(await createService(settings, { clock, log }));
    return running.use(openAt(rpcPort, 'gateway')).client(TokenService);
  };
  const dispose = () => running.disposeAsync();
  return {
    ...base,
    ...createFlow(base),
    ...createConsole(base),
    connect,
    startInstance,
    [Symbol.asyncDispose]: dispose,
  };
}

interface Base {
  readonly apps: Client<typeof AppService>;
  readonly authorizations: Client<typeof AuthorizationService>;
  readonly tokens: Client<typeof TokenService>;
  as(userId: string): Promise<{ headers: Record<string, string> }>;
}

interface AppSettings {
  readonly scopes?: string[];
  readonly requirePkce?: boolean;
  readonly redirectUris?: string[];
  readonly dpopBoundAccessTokens?: boolean;
}

function createFlow({ apps, authorizations, tokens, as }: Base) {
  return {
    async registerApp(settings: AppSettings = {}): Promise<TestApp> {
      const defaults = { name: 'Test app', redirectUris: [REDIRECT_URI] };
      const registered = await apps.registerApp({ settings: { ...defaults, ...settings } }, await as('dev'));
      return { clientId: registered.app?.clientId ?? '', clientSecret: registered.clientSecret };
    },
    /** Opens a pending approval, approves it as `ada`, and returns the code. */
    async obtainCode(app: TestApp, request: ObtainCode = {}): Promise<string> {
      const { scope = `${HEART} ${SLEEP}`, redirectUri = REDIRECT_URI, state, codeChallenge } = request;
      const { includeGrantedScopes: include } = request;
      const opened = await authorizations.openAuthorization({
        client: app,
        redirectUri,
        scope,
        ...(state === undefined ? {} : { state }),
        ...(include === undefined ? {} : { includeGrantedScopes: include }),
        ...(codeChallenge === undefined ? {} : { codeChallenge, codeChallengeMethod: 'S256' }),
      });
      const { approved, expiresInDays = 0, userId = 'ada' } = request;
      const decision = approved === undefined ? { allRequested: true } : { scopes: approved };
      const completed = await authorizations.completeAuthorization(
        { pendingId: opened.pendingId, expiresInDays, ...decision },
        await as(userId),
      );
      return codeOf(completed.redirectUri);
    },
    exchange: (client: Partial<TestApp>, code: string, overrides: Partial<Exchange> = {}) =>
      tokens.issueToken({
        client,
        grantType: 'authorization_code',
        code,
        redirectUri: REDIRECT_URI,
        ...overrides,
      }),
    refresh: (
      client: Partial<TestApp>,
      refreshToken: string,
      scope?: string,
      overrides: Partial<Exchange> = {},
    ) =>
      tokens.issueToken({
        client,
        grantType: 'refresh_token',
        refreshToken,
        ...(scope === undefined ? {} : { scope }),
        ...overrides,
      }),
    introspect: (token: string) => tokens.introspect({ tokenHash: toHash(token) }),
  };
}

/** What the developer of the registered apps does with them. */
function createConsole({ apps, as }: Base) {
  return {
    setStatus: async ({ clientId }: Pick<TestApp, 'clientId'>, status: AppStatus) =>
      apps.setAppStatus({ clientId, status }, await as('dev')),
    updateApp: async (clientId: string, settings: object) =>
      (await apps.updateApp({ clientId, settings }, await as('dev'))).app,
    readApp: async (clientId: string) => (await apps.listApps({ clientId }, await as('dev'))).apps[0],
  };
}

/** The code that a redirect to the app carries. */
export function codeOf(redirectUri: string): string {
  return new URL(redirectUri).searchParams.get('code') ?? '';
}

export function toHash(token: string): Uint8Array {
  return createHash('sha256').update(token).digest();
}

/** A verifier and its S256 challenge. */
export function createPkce(): { verifier: string; challenge: string } {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

/** The error of a refused call. */
export async function refusalOf(call: Promise<unknown>): Promise<AppError> {
  const outcome = await call.then(
    () => null,
    (error: unknown) => error,
  );
  if (outcome instanceof AppError) return outcome;
  throw new Error('the call was not refused', { cause: outcome });
}

/** The reason of a refused call. */
export async function reasonOf(call: Promise<unknown>): Promise<Reason> {
  return (await refusalOf(call)).reason;
}

/** Runs `call` n times concurrently and sorts the outcomes. */
export async function race<T>(n: number, call: () => Promise<T>): Promise<{ won: T[]; lost: Reason[] }> {
  const outcomes = await Promise.allSettled(Array.from({ length: n }, call));
  const won = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  const lost = outcomes.flatMap((outcome) =>
    outcome.status === 'rejected' ? [(outcome.reason as AppError).reason] : [],
  );
  return { won, lost };
}
