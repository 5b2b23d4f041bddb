import { createSecretKey, type KeyObject } from 'node:crypto';
import { join } from 'node:path';
import { FHIR_PREFIX } from '@phds/catalog/fhir/resource-types';
import {
  type FailureReports,
  reportFailures,
  startPeriodic,
  startPruning,
} from '@phds/service-kit/background';
import { type Clock, systemClock } from '@phds/service-kit/clock';
import { KEY_LOOK_UPS, openPostgres, type Postgres } from '@phds/service-kit/postgres/postgres';
import { toSchemaName } from '@phds/service-kit/postgres/postgres-names';
import { toPrismaOptions } from '@phds/service-kit/postgres/prisma';
import { acknowledging, type RestoreGuard, startRestoreGuard } from '@phds/service-kit/restore/guard';
import { createRestoreService } from '@phds/service-kit/restore/service';
import { type RpcServer, startRpcServer, toRpcServerOptions } from '@phds/service-kit/rpc/server';
import { openReloads } from '@phds/service-kit/settings/reload';
import { createLogger, type Logger } from '@phds/service-kit/telemetry/log';
import { Metrics } from '@phds/service-kit/telemetry/metrics';
import { createAssertionSigner } from '@phds/service-kit/trust/access-assertion';
import { createAssertionVerifier } from '@phds/service-kit/trust/client-assertion';
import { openSessionVerification, type SessionVerification } from '@phds/service-kit/trust/session';
import { type AppPools, createAppStore } from './app.ts';
import { createAppLocks } from './app-locks.ts';
import { createApps } from './apps.ts';
import { createAuthorizationStore } from './authorization-request.ts';
import { createAuthorizations } from './authorizations.ts';
import { createClientAuthentication } from './client-authentication.ts';
import { type Consent, connectConsent } from './clients/consent.ts';
import type { Config } from './config.ts';
import { createDecisions } from './decisions.ts';
import { createDevelopers } from './developers.ts';
import { createErasure } from './erasures.ts';
import { createAuthorizationCodeGrant } from './grants/authorization-code.ts';
import { createClientCredentialsGrant } from './grants/client-credentials.ts';
import { createRefreshTokenGrant } from './grants/refresh-token.ts';
import { createTokenEndpoint } from './grants/token-endpoint.ts';
import { createIntrospection, createOwnIntrospection } from './introspection.ts';
import { createKeyFetching, createKeySource, type KeyFetching, type KeySource } from './key-fetching.ts';
import { type AuthorizationMetrics, createAuthorizationMetrics } from './metrics.ts';
import { createOwnGrants } from './own-grants.ts';
import { createPossession, createUseJwt, type Possession } from './possession.ts';
import { createPruning } from './pruning.ts';
import { findRefreshToken } from './refresh-tokens.ts';
import { createAppOperatorService, createAppService } from './rpc/app-service.ts';
import { createAuthorizationService } from './rpc/authorization-service.ts';
import { createTokenService } from './rpc/token-service.ts';
import { PrismaClient } from './store/generated/client.ts';
import { createSuspensions } from './suspensions.ts';
import { createTokenStore } from './token.ts';
import { createFamilyRevocation, createTokenRevocation } from './token-revocation.ts';

const SERVICE = 'authorization';

/** The guard uses one connection for counting and one for checks, so that it never waits for requests that occupy all others. */
const GUARD_POOL_SIZE = 2;
/** How many apps are changed at once. Registrations need none of these connections. */
const LOCK_POOL_SIZE = 2;

/** Milliseconds between two searches for `jwksUri`s that are due. */
const KEY_FETCH_MS = 1_000;

/** Parts that tests replace. */
export interface Overrides {
  readonly clock?: Clock;
  readonly log?: Logger;
  readonly metrics?: Metrics;
  readonly consent?: (consent: Consent) => Consent;
  /** Milliseconds between two searches for `jwksUri`s that are due. */
  readonly keyFetchMs?: number;
}

/** The running service and its ports. Disposal waits for calls in progress. */
export type Service = RpcServer;

/** Builds and starts the service. It also starts while the database is unavailable, and is then not ready. */
export async function createService(config: Config, overrides: Overrides = {}): Promise<Service> {
  const { clock = systemClock, metrics = new Metrics({ service: SERVICE }) } = overrides;
  const log = overrides.log ?? createLogger({ service: SERVICE, level: config.LOG_LEVEL });
  const measured = createAuthorizationMetrics(metrics);
  const failureOf = reportFailures(metrics, log);
  await using resources = new AsyncDisposableStack();
  const reloads = resources.use(openReloads(config, { metrics, log }));
  const postgres = resources.use(openDatabase(config, log, `phds-${SERVICE}`, config.DATABASE_POOL_SIZE));
  const prismaOptions = toPrismaOptions(postgres.pool, toLimits(config));
  const prisma = resources.adopt(new PrismaClient(prismaOptions), (client) => client.$disconnect());
  const { pool } = resources.use(openDatabase(config, log, `phds-${SERVICE}-restores`, GUARD_POOL_SIZE));
  const locks = resources.use(openDatabase(config, log, `phds-${SERVICE}-locks`, LOCK_POOL_SIZE)).pool;
  measured.measurePools({ ordinary: postgres.pool, restores: pool, locks });
  const onFailure = failureOf('checking whether the database was restored');
  const guard = resources.use(
    await startRestoreGuard({ pool, schema: toSchemaName(SERVICE), config, log, onFailure }),
  );
  measured.measureRestores(guard);
  const consent = connectConsent(config, { clock, metrics, reloads }, resources);
  const parts: Parts = {
    ...createStores({ pool: postgres.pool, locks }, prisma, guard),
    keySource: createKeySource(config, failureOf('connecting to the proxy of keys')),
    ...(overrides.consent?.(consent) ?? consent),
    config,
    clock,
    derivationKey: createSecretKey(config.DERIVATION_KEY),
    fhirBase: config.ISSUER + FHIR_PREFIX,
    log,
    failureOf,
    guard,
    metrics: measured,
    verification: resources.use(openSessionVerification(config, { clock, failureOf })),
  };
  resources.use(
    startPruning(createPruning(prisma, clock), { intervalMs: config.PRUNE_INTERVAL_MS, failureOf }),
  );
  const server = resources.use(
    await startRpcServer({
      ...toRpcServerOptions(config, {
        service: SERVICE,
        clock,
        operatorRecord: parts.operatorRecord,
        reloads,
      }),
      services: createRpcServices({
        ...parts,
        keyFetching: fetchKeys(parts, overrides.keyFetchMs ?? KEY_FETCH_MS, resources),
      }),
      log,
      metrics,
      health: () => postgres.ping().then(() => true),
    }),
  );
  const running = resources.move();
  return { ...server, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** Fetches the keys of apps in the background. */
function fetchKeys(parts: Parts, intervalMs: number, resources: AsyncDisposableStack): KeyFetching {
  const { failureOf, log, metrics } = parts;
  const fetching = createKeyFetching({
    ...parts,
    onFetched(clientId, failure) {
      metrics.countKeyFetch(failure === '' ? 'fetched' : 'failed');
      if (failure !== '') log.info({ clientId, failure }, 'the keys of an app were not fetched');
    },
  });
  const options = { intervalMs, onFailure: failureOf('fetching the keys of apps') };
  resources.use(startPeriodic(fetching.fetchDue, options));
  return fetching;
}

/** The parts that use cases are built from. */
type Parts = ReturnType<typeof createStores> &
  Consent & {
    readonly config: Config;
    readonly keySource: KeySource;
    readonly clock: Clock;
    readonly derivationKey: KeyObject;
    readonly fhirBase: string;
    readonly log: Logger;
    readonly failureOf: FailureReports;
    readonly guard: RestoreGuard;
    readonly metrics: AuthorizationMetrics;
    readonly verification: SessionVerification;
  };

function toLimits(config: Config) {
  return {
    schema: toSchemaName(SERVICE),
    connectTimeoutMs: config.DATABASE_CONNECT_TIMEOUT_MS,
    statementTimeoutMs: config.DATABASE_STATEMENT_TIMEOUT_MS,
  };
}

function openDatabase(config: Config, log: Logger, applicationName: string, poolSize: number): Postgres {
  return openPostgres({
    ...toLimits(config),
    connectionString: config.DATABASE_URL,
    poolSize,
    applicationName,
    settings: KEY_LOOK_UPS,
    migrations: join(import.meta.dirname, '../prisma/migrations'),
    log,
  });
}

function createStores(pools: AppPools, prisma: PrismaClient, guard: RestoreGuard) {
  const { pool } = pools;
  return {
    pool,
    prisma,
    apps: createAppStore(pools, prisma, guard),
    authorizations: createAuthorizationStore(pool, prisma, guard),
    tokens: createTokenStore(pool, prisma, guard),
    useJwt: createUseJwt(pool),
  };
}

function createRpcServices(parts: Parts & { readonly keyFetching: KeyFetching }) {
  const { config, clock, guard, metrics, verification } = parts;
  const verifySession = verification.verify;
  const verifyAssertion = createAssertionVerifier({ issuer: config.ISSUER, clock });
  const publicApps = config.PUBLIC_APPS;
  const client = { ...parts, verifyAssertion, publicApps };
  const clients = metrics.measureClients(createClientAuthentication(client));
  const apps = createApps({
    ...parts,
    issuer: config.ISSUER,
    maxAppsPerDeveloper: config.MAX_APPS_PER_DEVELOPER,
    needsApproval: config.APP_APPROVAL === 'required',
    publicApps,
  });
  const developers = createDevelopers(parts.prisma, config.DEVELOPERS);
  const { ISSUER: issuer, AUTHORIZATION_CODE_SECONDS: codeSeconds } = config;
  const possession = createPossession({ ...parts, issuer });
  const decisions = createDecisions({ ...parts, issuer, codeSeconds });
  const erasure = { eraseUser: createErasure({ prisma: parts.prisma, apps }) };
  return [
    createAppService({
      apps: acknowledging(guard, apps, ['register', 'update', 'rotateSecret', 'setStatus']),
      developers,
      verifySession,
    }),
    createAppOperatorService(
      acknowledging(guard, createAppLocks(parts), ['suspend', 'lift', 'transfer']),
      acknowledging(guard, developers, ['add', 'remove']),
    ),
    createAuthorizationService({
      clients,
      findClientOf: async (token) => (await findRefreshToken(parts, token))?.family.clientId,
      authorizations: createAuthorizations({ ...parts, clients, possession, issuer }),
      decisions: acknowledging(guard, decisions, ['approve', 'deny']),
      ...acknowledging(guard, erasure, ['eraseUser']),
      verifySession,
      issuer,
    }),
    createTokenService(
      acknowledging(guard, createTokenRpcs({ ...parts, clients, possession }), ['revokeToken']),
    ),
    createRestoreService({ guard, suspensions: createSuspensions(parts.pool) }),
  ];
}

function createTokenRpcs(
  parts: Parts & { clients: ReturnType<typeof createClientAuthentication>; possession: Possession },
) {
  const { config, clock } = parts;
  const dependencies = { ...parts, revokeFamily: createFamilyRevocation(parts) };
  const grants = {
    authorization_code: createAuthorizationCodeGrant(dependencies),
    refresh_token: createRefreshTokenGrant(dependencies),
    // Ends nothing: a database that lacks the token refuses it.
    client_credentials: createClientCredentialsGrant(dependencies),
  };
  const sign = createAssertionSigner({ privateKeyPem: config.ASSERTION_PRIVATE_KEY, clock });
  return {
    issueToken: createTokenEndpoint({
      ...dependencies,
      grants,
      onIssued: parts.metrics.createIssueCounter(Object.keys(grants)),
    }),
    revokeToken: createTokenRevocation(dependencies),
    introspectOwnToken: createOwnIntrospection(dependencies),
    ...createOwnGrants(dependencies),
    introspect: createIntrospection({ ...dependencies, sign }),
  };
}
