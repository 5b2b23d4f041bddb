import type { z } from 'zod';
import { type Clock, systemClock } from './clock.ts';
import type { commonSettings, rpcSettings, sessionSettings } from './config.ts';
import type { RpcChannelOptions } from './rpc-client.ts';
import type { RpcServerOptions } from './rpc-server.ts';
import { toTlsFiles } from './rpc-tls.ts';
import { createServiceTokenSource, createServiceTokenVerifier } from './service-token.ts';
import type { SessionVerifierOptions } from './session.ts';

// The settings that every service has (config.ts), as options of the parts of this package that need them.

type Settings<Shape extends z.ZodRawShape> = Readonly<z.infer<z.ZodObject<Shape>>>;
type CommonSettings = Settings<typeof commonSettings>;

/** The ports, TLS and callers of a service, for `startRpcServer`. */
export function toRpcServerOptions(
  config: CommonSettings & Settings<ReturnType<typeof rpcSettings>>,
  { service, clock = systemClock }: { readonly service: string; readonly clock?: Clock },
): Omit<RpcServerOptions, 'services' | 'health' | 'log'> {
  return {
    verifyCaller: createServiceTokenVerifier({ service, publicKeys: config.SERVICE_PUBLIC_KEYS, clock }),
    host: config.HOST,
    rpcPort: config.RPC_PORT,
    probePort: config.PROBE_PORT,
    connectPort: config.CONNECT_PORT ?? null,
    ...toTls(config),
  };
}

/** TLS and service tokens, for `openRpcChannel`. */
export function toRpcChannelOptions(
  config: CommonSettings,
  { service, clock = systemClock }: { readonly service: string; readonly clock?: Clock },
): Pick<RpcChannelOptions, 'tokens' | 'tls'> {
  const tokens = createServiceTokenSource({ service, privateKeyPem: config.SERVICE_PRIVATE_KEY, clock });
  return { tokens, ...toTls(config) };
}

/** The accepted sessions, for `createSessionVerifier`. */
export function toSessionOptions(
  config: Settings<typeof sessionSettings>,
): Omit<SessionVerifierOptions, 'clock'> {
  return {
    issuer: config.SESSION_ISSUER,
    audience: config.SESSION_AUDIENCE,
    jwks: config.SESSION_JWKS,
    userIdClaim: config.SESSION_USER_ID_CLAIM,
  };
}

function toTls(config: CommonSettings): Pick<RpcServerOptions, 'tls'> {
  const tls = toTlsFiles(config);
  return tls === undefined ? {} : { tls };
}
