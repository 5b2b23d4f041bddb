import { setTimeout as pauseForReal } from 'node:timers/promises';
import type { Client } from '@connectrpc/connect';
import type { AuthorizationService } from '@phds/contracts/phds/authorization/v1/authorization_pb';
import { type FailureReports, reportFailures, startPeriodic } from '@phds/service-kit/background';
import { type Clock, systemClock } from '@phds/service-kit/clock';
import type { RunningService } from '@phds/service-kit/lifecycle';
import {
  closeHttp,
  createProbeServer,
  listenHttp,
  measureReadiness,
  type ReadinessWatch,
  watchReadiness,
} from '@phds/service-kit/probes';
import { openRedis, type RedisConnection, toRedisTls } from '@phds/service-kit/redis';
import { ConfigError } from '@phds/service-kit/settings/config';
import { openReloads } from '@phds/service-kit/settings/reload';
import { createLogger, createSecurityLog, type Logger } from '@phds/service-kit/telemetry/log';
import { Metrics } from '@phds/service-kit/telemetry/metrics';
import { openSessionVerification, type SessionVerification } from '@phds/service-kit/trust/session';
import { AccessTokens, subscribeEvictions } from './cache/access-tokens.ts';
import { openBackends } from './clients/backends.ts';
import { createLogoutTokenVerifier } from './clients/ended-sessions.ts';
import {
  ISSUER_DIFFERS,
  type OpenidProvider,
  openOpenidProvider,
  SignInFailure,
} from './clients/openid-provider.ts';
import type { Config } from './config.ts';
import { createApp } from './http/app.ts';
import { createSessionReader } from './http/credentials.ts';
import type { Gateway, Pause, SignIn } from './http/gateway.ts';
import { createReadiness, type Readiness } from './http/public/readiness.ts';
import { startHttpServer } from './http/server.ts';
import { createAttemptCookie } from './http/sign-in/attempt-cookie.ts';
import { loadWebPage } from './http/web/web-page.ts';
import { createNetworkNames, KnownClients, Limits } from './limits/limits.ts';
import { UsedProofs } from './limits/used-proofs.ts';
import { createGatewayMetrics } from './metrics.ts';
import { RefusalCounts } from './usage/refusal-counts.ts';
import { createRedisRequestLog, RequestLog } from './usage/request-log.ts';

interface Overrides {
  readonly clock?: Clock;
  readonly log?: Logger;
  readonly metrics?: Metrics;
  readonly pause?: Pause;
}

/** A running gateway. Disposal waits for requests in progress. */
export interface Service extends RunningService {
  /** The public HTTP port. */
  readonly port: number;
  /** The port of /livez, /readyz and /metrics. */
  readonly probePort: number;
  /** Exposed for tests. */
  readonly accessTokens: AccessTokens;
}

/** Starts the gateway. It starts even when Redis or other services are down. */
export async function createService(config: Config, overrides: Overrides = {}): Promise<Service> {
  const { clock = systemClock, pause = pauseForReal } = overrides;
  const { metrics = new Metrics({ service: 'gateway' }) } = overrides;
  const log = overrides.log ?? createLogger({ service: 'gateway', level: config.LOG_LEVEL });
  const measured = createGatewayMetrics(metrics);
  const failureOf = reportFailures(metrics, log);
  await using starting = new AsyncDisposableStack();
  const reloads = starting.use(openReloads(config, { metrics, log }));
  const backends = starting.use(openBackends(config, { metrics, reloads }));
  const { CACHE_MAX_TOKENS: maxTokens, CACHE_TTL_MS: ttlMs } = config;
  const accessTokens = new AccessTokens({ tokens: backends.tokenCalls, maxTokens, ttlMs, clock });
  measured.measureCache(accessTokens);
  const redis = await connectRedis(config, { accessTokens, log, measured }, starting);
  const refusals = countRefusals({ ...backends, clock, log }, config, failureOf, starting);
  const requests = openRequestLog(redis, config, { clock, log }, starting);
  const verification = starting.use(openSessionVerification(config, { clock, failureOf }));
  let isLeaving = false;
  const readiness = createReadiness({ backends, clock, isLeaving: () => isLeaving });
  const signIn = openSignIn(config, { clock, verification });
  const app = createApp({
    config,
    log,
    security: createSecurityLog(log),
    clock,
    measure: measured.measureRequest,
    isReady: readiness.isReady,
    pause: async (milliseconds) => void (await pause(milliseconds)),
    backends,
    accessTokens,
    knownClients: new KnownClients(),
    networkOf: createNetworkNames(config.SERVICE_PRIVATE_KEY),
    usedProofs: new UsedProofs(redis),
    limits: new Limits(config.LIMITS, redis, measured.onRateLimited),
    refusals,
    requests,
    readSession: createSessionReader({
      verify: verification.verify,
      publicUrl: config.PUBLIC_URL,
      endedSessions: config.openid === null ? null : backends.endedSessions,
    }),
    signIn,
    webPage: loadWebPage(config),
  });
  const probePort = await openProbes({ config, metrics, readiness }, starting);
  const http = starting.use(await startHttpServer(app, config, { clock, reloads }));
  const ports = { port: http.port, probePort };
  const watch = await announceReadiness({ config, readiness, backends, signIn, log, ports }, starting);
  const running = starting.move();
  const leave = () => {
    isLeaving = true;
    watch.stop();
    http.leave();
  };
  return { ...ports, accessTokens, leave, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** Logs when the gateway is ready, and then each issuer in its settings that is wrong. */
async function announceReadiness(
  {
    config: { PUBLIC_URL: publicUrl },
    readiness: { check },
    backends,
    signIn,
    log,
    ports,
  }: Pick<Gateway, 'config' | 'backends' | 'signIn'> & {
    readonly readiness: Readiness;
    readonly log: Logger;
    readonly ports: object;
  },
  resources: AsyncDisposableStack,
): Promise<ReadinessWatch> {
  const provider = signIn?.provider ?? null;
  let isFirst = true;
  const onChecked = (isReady: boolean) => {
    if (isReady && isFirst) void checkIssuers({ ...backends, publicUrl, provider, log });
    isFirst &&= !isReady;
  };
  const watch = resources.adopt(watchReadiness({ check, log, ports, onChecked }), ({ stop }) => stop());
  await watch.first;
  return watch;
}

/** Serves probes and metrics, until requests in progress on the public port are answered. Returns the port. */
async function openProbes(
  { config, metrics, readiness }: { config: Config; metrics: Metrics; readiness: Readiness },
  resources: AsyncDisposableStack,
): Promise<number> {
  measureReadiness(metrics, readiness.canWork);
  const { isReady } = readiness;
  const server = resources.adopt(createProbeServer({ isReady, metrics }), closeHttp);
  return listenHttp(server, config.HOST, config.PROBE_PORT);
}

/** Redis with the subscription to evictions; null when none is configured. */
async function connectRedis(
  config: Config,
  {
    accessTokens,
    log,
    measured,
  }: {
    readonly accessTokens: AccessTokens;
    readonly log: Logger;
    readonly measured: ReturnType<typeof createGatewayMetrics>;
  },
  resources: AsyncDisposableStack,
): Promise<RedisConnection | null> {
  const { REDIS_URL: url, REDIS_COMMAND_TIMEOUT_MS: commandTimeoutMs } = config;
  if (url === undefined) return null;
  const tls = toRedisTls(config);
  const redis = resources.use(openRedis(url, log, { commandTimeoutMs, tls }));
  measured.measureRedis(redis);
  measured.measureSubscription(resources.use(subscribeEvictions({ url, tls }, accessTokens, log)));
  // Until then a proof that another gateway has seen would work here.
  await redis.tried;
  return redis;
}

/** Counts refusals, and sends the counts to consent periodically, and once more after the last request. */
function countRefusals(
  parts: ConstructorParameters<typeof RefusalCounts>[0],
  { USAGE_INTERVAL_MS: intervalMs }: Config,
  failureOf: FailureReports,
  resources: AsyncDisposableStack,
): RefusalCounts {
  const refusals = new RefusalCounts(parts);
  const failed = failureOf('sending the counts of refused requests to consent');
  resources.defer(() => refusals.handOver().catch(failed));
  resources.use(startPeriodic(() => refusals.handOver(), { intervalMs, onFailure: failed }));
  return refusals;
}

/** The request log, which moves to Redis periodically, and once more after the last request. */
function openRequestLog(
  redis: RedisConnection | null,
  { REQUEST_LOG_INTERVAL_MS: intervalMs }: Config,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
  resources: AsyncDisposableStack,
): RequestLog {
  const requests = new RequestLog({ shared: redis && createRedisRequestLog(redis, log), clock });
  const failed = (err: unknown) => log.debug({ err }, 'storing the request log failed; it is kept');
  resources.defer(() => requests.handOver().catch(failed));
  resources.use(startPeriodic(() => requests.handOver(), { intervalMs, onFailure: failed }));
  return requests;
}

function openSignIn(
  { openid, PUBLIC_URL: publicUrl, OIDC_DEADLINE_MS: deadlineMs }: Config,
  { clock, verification }: { readonly clock: Clock; readonly verification: SessionVerification },
): SignIn | null {
  if (openid === null) return null;
  const { issuer, clientId, signInKey } = openid;
  const { verify, keys } = verification;
  return {
    provider: openOpenidProvider({ ...openid, publicUrl, deadlineMs, clock }),
    attempt: createAttemptCookie({ key: signInKey, publicUrl, clock }),
    verify,
    verifyLogout: createLogoutTokenVerifier({ issuer, clientId, keys, clock }),
  };
}

/**
 * Logs an error for each issuer in the settings that is not the one that authorization or the OpenID provider names: approvals or sign-ins
 * would fail. The gateway serves all the same, because data requests do not depend on them.
 */
async function checkIssuers({
  authorization,
  publicUrl,
  provider,
  log,
}: {
  readonly authorization: Pick<Client<typeof AuthorizationService>, 'getIssuer'>;
  readonly publicUrl: string;
  /** Null when nobody can sign in here. */
  readonly provider: Pick<OpenidProvider, 'check'> | null;
  readonly log: Pick<Logger, 'error' | 'warn'>;
}): Promise<void> {
  const report = (setting: string, reason: string) => {
    const { problems } = new ConfigError([{ setting, reason }]);
    log.error({ problems }, `${setting}: ${reason}`);
  };
  const ofAuthorization = async () => {
    const { issuer } = await authorization.getIssuer({});
    if (issuer === publicUrl) return;
    report('PUBLIC_URL', `is ${publicUrl}, but ISSUER of authorization is ${issuer}: apps refuse approvals`);
  };
  const ofProvider = async () => {
    await provider?.check().catch((error: unknown) => {
      if (!(error instanceof SignInFailure && error.detail === ISSUER_DIFFERS)) throw error;
      report('OIDC_ISSUER', 'the OpenID provider at this address names another issuer: nobody can sign in');
    });
  };
  const failed = (whose: string) => (err: unknown) =>
    log.warn({ err }, `the issuer of ${whose} could not be checked`);
  await Promise.all([
    ofAuthorization().catch(failed('authorization')),
    ofProvider().catch(failed('the OpenID provider')),
  ]);
}
