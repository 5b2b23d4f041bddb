import type { z } from 'zod';
import type { FailureReports } from '../background.ts';
import { type Clock, systemClock } from '../clock.ts';
import type { RedisTls } from '../redis.ts';
import type { RpcChannelOptions } from '../rpc/client.ts';
import type { OperatorRecord } from '../rpc/operator-acts.ts';
import type { RpcServerOptions } from '../rpc/server.ts';
import { requirePair } from '../rpc/tls.ts';
import { type Metrics, measureCalledRpcs } from '../telemetry/metrics.ts';
import { createServiceTokenSource, createServiceTokenVerifier, parseRoles } from '../trust/callers.ts';
import { openSessionKeys, type SessionKeys } from '../trust/keys.ts';
import { createSessionVerifier, type SessionVerifier } from '../trust/session.ts';
import type { Reloads } from './reload.ts';
import type { commonSettings, redisSettings, rpcSettings, sessionSettings } from './settings.ts';

// The settings that every service has (settings.ts), as options of the parts of this package that need them.

type Settings<Shape extends z.ZodRawShape> = Readonly<z.infer<z.ZodObject<Shape>>>;
type CommonSettings = Settings<typeof commonSettings>;

/** The ports, TLS, callers and operators of a service, for `startRpcServer`. */
export function toRpcServerOptions(
  config: CommonSettings & Settings<ReturnType<typeof rpcSettings>>,
  {
    service,
    clock = systemClock,
    operatorRecord,
    reloads,
  }: {
    readonly service: string;
    readonly clock?: Clock;
    readonly operatorRecord: OperatorRecord;
    readonly reloads: Reloads;
  },
): Omit<RpcServerOptions, 'services' | 'health' | 'log'> {
  const admitting = (publicKeys: string) => ({
    verify: createServiceTokenVerifier({ service, publicKeys, clock }),
    rolesOf: parseRoles(publicKeys),
  });
  let admitted = admitting(config.SERVICE_PUBLIC_KEYS);
  reloads.watch(['SERVICE_PUBLIC_KEYS'], ({ SERVICE_PUBLIC_KEYS: keys }) => {
    admitted = admitting(keys);
  });
  return {
    verifyCaller: (token) => admitted.verify(token),
    operators: { rolesOf: (caller) => admitted.rolesOf(caller), record: operatorRecord },
    host: config.HOST,
    rpcPort: config.RPC_PORT,
    connectPort: config.CONNECT_PORT,
    probePort: config.PROBE_PORT,
    ...toTls(reloads),
  };
}

interface ChannelContext {
  readonly service: string;
  readonly clock?: Clock;
  /** Measures the calls of all channels. Default: they are not measured. */
  readonly metrics?: Metrics;
  readonly reloads: Reloads;
}

/** TLS, service tokens and metrics of all channels of a service, for `openRpcChannel`. Called once for each service. */
export function toRpcChannelOptions(
  config: CommonSettings,
  { service, clock = systemClock, metrics, reloads }: ChannelContext,
): Pick<RpcChannelOptions, 'tokens' | 'tls' | 'observer'> {
  const signing = (privateKeyPem: string) => createServiceTokenSource({ service, privateKeyPem, clock });
  let tokens = signing(config.SERVICE_PRIVATE_KEY);
  reloads.watch(['SERVICE_PRIVATE_KEY'], ({ SERVICE_PRIVATE_KEY: key }) => {
    tokens = signing(key);
  });
  return {
    tokens: (audience) => tokens(audience),
    ...toTls(reloads),
    ...(metrics && { observer: measureCalledRpcs(metrics) }),
  };
}

/** The verifier of sessions and the keys of the identity provider. */
export interface SessionVerification extends AsyncDisposable {
  readonly verify: SessionVerifier;
  readonly keys: SessionKeys;
}

const SESSION_KEYS_TIMEOUT_MS = 2_000;

/** Opens the keys of the identity provider, and creates the verifier of the accepted sessions. */
export function openSessionVerification(
  config: Settings<typeof sessionSettings> & Pick<CommonSettings, 'DEADLINE_FACTOR'>,
  { clock = systemClock, failureOf }: { readonly clock?: Clock; readonly failureOf: FailureReports },
): SessionVerification {
  const keys = openSessionKeys(config.SESSION_JWKS, {
    timeoutMs: SESSION_KEYS_TIMEOUT_MS * config.DEADLINE_FACTOR,
    onFailure: failureOf('fetching the keys of the identity provider'),
  });
  const verify = createSessionVerifier({
    issuer: config.SESSION_ISSUER,
    audience: config.SESSION_AUDIENCE,
    userIdClaim: config.SESSION_USER_ID_CLAIM,
    jwks: keys,
    clock,
  });
  return { verify, keys, [Symbol.asyncDispose]: () => keys[Symbol.asyncDispose]() };
}

function toTls({ tls }: Reloads): Pick<RpcServerOptions, 'tls'> {
  return tls === undefined ? {} : { tls };
}

/** TLS to Redis, for `openRedis` and `subscribeRedis`. Throws a ConfigError unless the texts fit together. */
export function toRedisTls(config: Settings<typeof redisSettings>): RedisTls {
  const { REDIS_TLS_CA: ca, REDIS_TLS_CERT: cert, REDIS_TLS_KEY: key } = config;
  if (cert !== undefined && key !== undefined)
    requirePair('REDIS_TLS_CERT', { ca, cert, key }, 'REDIS_TLS_CERT and REDIS_TLS_KEY');
  return { ca, cert, key };
}
