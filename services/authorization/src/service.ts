import { ConsentService } from '@phds/contracts/phds/consent/v1/consent_pb';
import { LedgerService } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { toSchemaName } from '@phds/database/postgres-names';
import { createAssertionSigner } from '@phds/service-kit/access-assertion';
import { acknowledging } from '@phds/service-kit/acknowledged-changes';
import type { Clock } from '@phds/service-kit/clock';
import { systemClock } from '@phds/service-kit/clock';
import type { Logger } from '@phds/service-kit/log';
import { createLogger } from '@phds/service-kit/log';
import type { Postgres } from '@phds/service-kit/postgres';
import { openPostgres } from '@phds/service-kit/postgres';
import { startPruning } from '@phds/service-kit/pruning';
import type { RestoreGuard } from '@phds/service-kit/restore-guard';
import { createRestoreService } from '@phds/service-kit/restore-service';
import { openRpcChannel } from '@phds/service-kit/rpc-client';
import type { RpcPorts } from '@phds/service-kit/rpc-server';
import { startRpcServer } from '@phds/service-kit/rpc-server';
import { toTlsFiles } from '@phds/service-kit/rpc-tls';
import { createServiceTokenSource, createServiceTokenVerifier } from '@phds/service-kit/service-token';
import { createSessionVerifier } from '@phds/service-kit/session';
import { createApps } from './app/apps.ts';
import { createAuthorizations } from './app/authorizations.ts';
import { createClientAuthentication } from './app/client-authentication.ts';
import { createCodeExchange } from './app/code-exchange.ts';
import { createDecisions } from './app/decisions.ts';
import { createErasures } from './app/erasures.ts';
import { createFamilyRevocation } from './app/family-revocation.ts';
import { createIntrospection } from './app/introspection.ts';
import { createOwnGrants } from './app/own-grants.ts';
import { createOwnIntrospection } from './app/own-introspection.ts';
import { createOwnTokens } from './app/own-tokens.ts';
import type {
  AppStore,
  AuthorizationStore,
  ConsentApprovals,
  ConsentLedger,
  PersonStore,
  TokenStore,
} from './app/ports.ts';
import { createRefresh } from './app/refresh.ts';
import { createTokenEndpoint } from './app/token-endpoint.ts';
import { createTokenRevocation } from './app/token-revocation.ts';
import { createRpcConsentApprovals } from './clients/rpc-consent-approvals.ts';
import { createRpcConsentLedger } from './clients/rpc-consent-ledger.ts';
import type { Config } from './config.ts';
import { createAppService } from './rpc/app-service.ts';
import { createAuthorizationService } from './rpc/authorization-service.ts';
import type { TokenUseCases } from './rpc/token-service.ts';
import { createTokenService } from './rpc/token-service.ts';
import { PrismaClient } from './store/generated/client.ts';
import { createPgAccessTokens } from './store/pg-access-tokens.ts';
import { createPgCredentials } from './store/pg-credentials.ts';
import { createPrismaApps } from './store/prisma-apps.ts';
import { createPrismaAuthorizations } from './store/prisma-authorizations.ts';
import { createPrismaPeople } from './store/prisma-people.ts';
import { createPrismaPruner } from './store/prisma-pruner.ts';
import { createPrismaSuspensions } from './store/prisma-suspensions.ts';
import { createPrismaTokens } from './store/prisma-tokens.ts';
import { openRestoreGuard } from './store/restore-guard.ts';

const SERVICE = 'authorization';

/** The guard counts on one connection and looks on another, and waits for neither while requests hold all of the others. */
const GUARD_POOL_SIZE = 2;

/** Parts that tests replace. */
export interface Overrides {
  readonly clock?: Clock;
  readonly log?: Logger;
}

/** The running service; disposing lets calls in flight finish and closes everything. */
export type Service = RpcPorts & AsyncDisposable;

/** Builds and starts the whole service. */
export async function createService(config: Config, overrides: Overrides = {}): Promise<Service> {
  const { clock = systemClock, log = createLogger({ service: SERVICE, level: config.LOG_LEVEL }) } =
    overrides;
  await using stack = new AsyncDisposableStack();
  const postgres = stack.use(openDatabase(config, log, `phds-${SERVICE}`, config.DATABASE_POOL_SIZE));
  const prisma = new PrismaClient({ adapter: postgres.adapter });
  stack.defer(() => prisma.$disconnect());
  const consent = connectConsent(config, clock, stack);
  const proofs = stack.use(openDatabase(config, log, `phds-${SERVICE}-restores`, GUARD_POOL_SIZE));
  const guard = stack.use(await openRestoreGuard(proofs.pool, config, log));
  const stores = createStores(postgres, prisma, guard);
  stack.use(startPruning(createPrismaPruner(prisma, clock), { intervalMs: config.PRUNE_INTERVAL_MS, log }));
  const tls = toTlsFiles(config);
  const server = stack.use(
    await startRpcServer({
      services: createRpcServices({ ...stores, ...consent, clock, config, guard, log }),
      verifyCaller: createServiceTokenVerifier({
        service: SERVICE,
        publicKeys: config.SERVICE_PUBLIC_KEYS,
        clock,
      }),
      log,
      host: config.HOST,
      rpcPort: config.RPC_PORT,
      probePort: config.PROBE_PORT,
      connectPort: config.CONNECT_PORT ?? null,
      health: () => postgres.ping().then(() => true),
      ...(tls === undefined ? {} : { tls }),
    }),
  );
  const { rpcPort, probePort, connectPort } = server;
  log.info({ rpcPort, probePort, connectPort }, 'authorization is up');
  const running = stack.move();
  return { rpcPort, probePort, connectPort, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

interface Stores {
  readonly apps: AppStore;
  readonly authorizations: AuthorizationStore;
  readonly tokens: TokenStore;
  readonly people: PersonStore;
  readonly suspensions: ReturnType<typeof createPrismaSuspensions>;
}

function createStores({ pool }: Postgres, prisma: PrismaClient, guard: RestoreGuard): Stores {
  return {
    apps: { ...createPrismaApps(prisma, guard), ...createPgCredentials(pool, guard) },
    authorizations: createPrismaAuthorizations(prisma, guard),
    tokens: { ...createPrismaTokens(prisma, guard), ...createPgAccessTokens(pool, guard) },
    people: createPrismaPeople(prisma),
    suspensions: createPrismaSuspensions(prisma),
  };
}

interface Consent {
  readonly ledger: ConsentLedger;
  readonly approvals: ConsentApprovals;
}

function openDatabase(config: Config, log: Logger, applicationName: string, poolSize: number): Postgres {
  return openPostgres({
    connectionString: config.DATABASE_URL,
    schema: toSchemaName(SERVICE),
    poolSize,
    statementTimeoutMs: config.DATABASE_STATEMENT_TIMEOUT_MS,
    applicationName,
    log,
  });
}

function connectConsent(config: Config, clock: Clock, stack: AsyncDisposableStack): Consent {
  const tls = toTlsFiles(config);
  const channel = stack.use(
    openRpcChannel({
      address: config.CONSENT_ADDRESS,
      audience: 'consent',
      tokens: createServiceTokenSource({
        service: SERVICE,
        privateKeyPem: config.SERVICE_PRIVATE_KEY,
        clock,
      }),
      deadlineMs: config.CONSENT_DEADLINE_MS,
      ...(tls === undefined ? {} : { tls }),
    }),
  );
  return {
    ledger: createRpcConsentLedger(channel.client(LedgerService)),
    approvals: createRpcConsentApprovals(channel.client(ConsentService)),
  };
}

type Parts = Stores &
  Consent & {
    readonly clock: Clock;
    readonly config: Config;
    readonly guard: RestoreGuard;
    readonly log: Logger;
  };

function createRpcServices(parts: Parts) {
  const { config, clock, guard } = parts;
  const clients = createClientAuthentication(parts);
  const sessions = createSessionVerifier({
    issuer: config.SESSION_ISSUER,
    audience: config.SESSION_AUDIENCE,
    jwks: config.SESSION_JWKS,
    clock,
  });
  const apps = createApps({ ...parts, maxAppsPerDeveloper: config.MAX_APPS_PER_DEVELOPER });
  const authorizations = createAuthorizations({ ...parts, clients, issuer: config.ISSUER });
  const decisions = createDecisions({
    ...parts,
    issuer: config.ISSUER,
    derivationKey: config.DERIVATION_KEY,
    codeSeconds: config.AUTHORIZATION_CODE_SECONDS,
  });
  const useCases = createTokenUseCases({ ...parts, clients });
  return [
    createAppService({
      apps: acknowledging(guard, apps, ['register', 'update', 'rotateSecret', 'setStatus']),
      sessions,
    }),
    createAuthorizationService({
      clients,
      authorizations,
      decisions: acknowledging(guard, decisions, ['approve', 'deny']),
      erasures: acknowledging(guard, createErasures({ people: parts.people, apps }), ['erase']),
      sessions,
    }),
    createTokenService(acknowledging(guard, useCases, ['issue', 'revoke'])),
    createRestoreService({ guard, countSuspended: parts.suspensions.count }),
  ];
}

function createTokenUseCases(
  parts: Parts & { clients: ReturnType<typeof createClientAuthentication> },
): TokenUseCases {
  const { config, clock } = parts;
  const dependencies = { ...parts, revokeFamily: createFamilyRevocation(parts) };
  const grants = new Map([
    ['authorization_code', createCodeExchange(dependencies)],
    ['refresh_token', createRefresh({ ...dependencies, derivationKey: config.DERIVATION_KEY })],
    ['client_credentials', createOwnTokens(dependencies)],
  ]);
  const sign = createAssertionSigner({ privateKeyPem: config.ASSERTION_PRIVATE_KEY, clock });
  return {
    issue: createTokenEndpoint({ ...dependencies, grants }),
    revoke: createTokenRevocation(dependencies),
    introspectOwn: createOwnIntrospection(dependencies),
    listOwnGrants: createOwnGrants(dependencies),
    introspect: createIntrospection({ ...dependencies, sign }),
  };
}
