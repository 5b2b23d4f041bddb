import { z } from 'zod';
import { parseRoles } from '../trust/callers.ts';
import {
  connectionString,
  durationMs,
  flag,
  integer,
  list,
  optionalInteger,
  optionalText,
  port,
  privateKey,
  publicKeys,
} from './config.ts';

/*
 * docs/operations/settings.md is generated from the schemas of the settings (`pnpm gen:settings`). Each setting has a description, and a
 * unit unless its values are listed (`z.enum`). In `.meta({…})`, `unit` is the unit or form of the value, `secret` is true or says when
 * the value is secret, and `fallback` describes a default that the schema does not have.
 */

/** The values of settings. */
export type SettingsOf<Shape extends z.ZodRawShape> = Readonly<z.infer<z.ZodObject<Shape>>>;

/** The settings of mutual TLS between services. */
export const tlsSettings = {
  TLS_CA: optionalText({ unit: 'PEM', fallback: 'none' }).describe('Authorities of the certificates.'),
  TLS_CERT: optionalText({ unit: 'PEM', fallback: 'none' }).describe(
    'Certificate of this process, as server and client.',
  ),
  TLS_KEY: optionalText({ unit: 'PEM', fallback: 'none', secret: true }).describe(
    'Private key of `TLS_CERT`.',
  ),
} as const;

/** Below the two minutes after which the alert ServiceNotReady fires for a replica that is leaving. */
const LONGEST_SHUTDOWN_DELAY_MS = 60_000;

/** The public keys of the callers of a service, some of which it cannot do without. */
export function callerSettings(...callers: readonly string[]) {
  return {
    SERVICE_PUBLIC_KEYS: publicKeys(...callers)
      .superRefine(requireRoles)
      .describe('Public keys of all callers, by `kid`.'),
  } as const;
}

function requireRoles(text: string, context: z.RefinementCtx): void {
  try {
    parseRoles(text);
  } catch (error) {
    // A text that is not a JWKS has been refused already.
    if (error instanceof SyntaxError || error instanceof TypeError) return;
    context.addIssue({ code: 'custom', message: (error as Error).message });
  }
}

/** The settings of every service. */
export const commonSettings = {
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .default('info')
    .describe('Least severe logged level.'),
  HOST: z
    .string()
    .transform((text) => text.replace(/^\[(.*)\]$/, '$1'))
    .default('127.0.0.1')
    .meta({ unit: 'address', fallback: '`127.0.0.1`; in the images `::`' })
    .describe('Address of the ports; `::` is all, of IPv6 and IPv4.'),
  SHUTDOWN_DELAY_MS: integer(0, { max: LONGEST_SHUTDOWN_DELAY_MS })
    .meta({ unit: 'ms' })
    .describe('[Time](upgrade-and-release.md#how-a-process-stops) for which it still serves after SIGTERM.'),
  DEADLINE_FACTOR: integer(1, { min: 1, max: 100, unit: 'times' }).describe(
    'Multiplies waits for services, the OpenID provider and connections of Postgres. The same for all services.',
  ),
  SERVICE_PRIVATE_KEY: privateKey().describe('Signs service tokens.'),
  ...callerSettings(),
  ...tlsSettings,
} as const;

/** Waiting times in milliseconds, multiplied by DEADLINE_FACTOR. */
export function toDeadlines<Name extends string>(
  { DEADLINE_FACTOR: factor }: { readonly DEADLINE_FACTOR: number },
  deadlines: Readonly<Record<Name, number>>,
): Record<Name, number> {
  const scaled = Object.entries<number>(deadlines).map(([name, ms]) => [name, ms * factor]);
  return Object.fromEntries(scaled);
}

/** The port of /livez, /readyz and /metrics, which every service has. */
export function probePort(fallback: number) {
  return port(fallback).describe('`/livez`, `/readyz` and `/metrics`, in plain HTTP.');
}

/** The settings of a service with rpcs; `probes` is the default of its probe port. */
export function rpcSettings(defaults: { readonly rpc: number; readonly probes: number }) {
  return {
    RPC_PORT: port(defaults.rpc).describe('gRPC.'),
    CONNECT_PORT: optionalInteger({ max: 65_535, unit: 'port' })
      .meta({ fallback: 'none' })
      .describe('Connect and gRPC-Web, for [other services](../internal-services.md).'),
    PROBE_PORT: probePort(defaults.probes),
  } as const;
}

const LOOPBACK = /^((.+\.)?localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/;

/** Whether the host of a URL, or an address, is this machine. */
function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}

/** Whether nobody on the way to a URL can read or change what is sent: https, or plain http on this machine. */
function isProtected(url: URL): boolean {
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname));
}

/** Whether a text is such a URL, without query and fragment. */
export function isProtectedAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && url.search === '' && url.hash === '' && isProtected(url);
}

/** The settings of a service that sends requests to hosts that apps name. */
export const egressSettings = {
  EGRESS_PROXY: proxyUrl().describe('[HTTP proxy](deploy.md#through-a-proxy) to hosts that apps name.'),
  EGRESS_ALLOW_LOOPBACK: flag().describe(
    'Allows loopback addresses of apps, without TLS too; only with `HOST` and `SESSION_ISSUER` of this machine.',
  ),
} as const;

/** An HTTP proxy to hosts outside. */
function proxyUrl() {
  return z
    .string()
    .refine(isProxy, 'must be http:// or https://, a host and a port, without a path')
    .optional()
    .meta({
      unit: '`http(s)://[user:password@]host:port`',
      fallback: 'none',
      secret: 'if it contains a password',
    });
}

function isProxy(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.pathname + url.search + url.hash === '/';
}

/** The mode of a deployment in which partners rehearse with made-up people. */
export const sandboxSettings = {
  SANDBOX: flag().describe('Whether this is a [sandbox](deploy.md#sandbox).'),
} as const;

/** The first label of the host name of a development identity provider that others than this machine reach. */
const DEVELOPMENT_HOST = /^development-identity-provider\./;

/** Refuses a sandbox with sessions of real people. */
export function refuseSandboxWithPeople(
  { SANDBOX, SESSION_ISSUER }: { readonly SANDBOX: boolean; readonly SESSION_ISSUER: string },
  context: z.RefinementCtx,
): void {
  const issuer = hostOf(SESSION_ISSUER);
  const isDevelopment = isUnreal(issuer) || DEVELOPMENT_HOST.test(issuer);
  if (!SANDBOX || isDevelopment) return;
  const message =
    'must be false, unless SESSION_ISSUER (and OIDC_ISSUER) is the development identity provider: on this machine, or at a host name that begins with development-identity-provider.';
  context.addIssue({ code: 'custom', path: ['SANDBOX'], message });
}

/**
 * Refuses a setting that allows requests to loopback addresses in production. Sessions of a real identity provider, or a port that others
 * reach, are signs of it.
 */
export function refuseLoopbackElsewhere(
  values: { readonly HOST: string; readonly SESSION_ISSUER: string; readonly EGRESS_ALLOW_LOOPBACK: boolean },
  context: z.RefinementCtx,
): void {
  const isLocal = isLoopback(values.HOST) && isUnreal(hostOf(values.SESSION_ISSUER));
  if (!values.EGRESS_ALLOW_LOOPBACK || isLocal) return;
  const message = 'must be false, unless HOST and SESSION_ISSUER are of this machine';
  context.addIssue({ code: 'custom', path: ['EGRESS_ALLOW_LOOPBACK'], message });
}

/** The host name of a URL; empty if it is none. */
function hostOf(url: string): string {
  return URL.parse(url)?.hostname ?? '';
}

/** Whether no identity provider of real people is at a host: this machine, or a name under `.test` (RFC 6761). */
function isUnreal(host: string): boolean {
  return isLoopback(host) || host.endsWith('.test');
}

function isKeySource(text: string): boolean {
  if (!text.startsWith('{')) {
    const url = URL.parse(text);
    // Whoever can change the keys on the way can sign in as anybody.
    return url !== null && isProtected(url);
  }
  try {
    const set: { readonly keys?: unknown } = JSON.parse(text);
    return Array.isArray(set.keys) && set.keys.length > 0;
  } catch {
    return false;
  }
}

/** The settings of a service that verifies sessions. */
export const sessionSettings = {
  SESSION_ISSUER: z.string().meta({ unit: 'URL' }).describe('`iss` of sessions.'),
  SESSION_AUDIENCE: list()
    .meta({ unit: 'names, separated by commas' })
    .describe('Accepted `aud`: client id at the identity provider, and that of your own `session+jwt`.'),
  SESSION_USER_ID_CLAIM: z
    .string()
    .default('sub')
    .meta({ unit: 'name of a claim' })
    .describe("Claim with the person's id."),
  SESSION_JWKS: z
    .string()
    .refine(isKeySource, 'must be an https URL, an http URL on this machine, or a JWKS with keys')
    .meta({ unit: 'URL of a JWKS, or the JWKS' })
    .describe("The identity provider's public keys."),
} as const;

/** The settings of a service with a database. */
export const databaseSettings = {
  DATABASE_URL: connectionString().describe('Database, with the role of the service.'),
  DATABASE_POOL_SIZE: integer(10, { min: 1, max: 200, unit: 'connections' }).describe(
    'Connections for all without a pool of its own.',
  ),
  DATABASE_STATEMENT_TIMEOUT_MS: durationMs(10_000).describe('Maximum duration of a statement.'),
} as const;

/** The settings of a service that uses Redis but can do without it. */
export const redisSettings = {
  REDIS_URL: optionalText({
    unit: '`redis://` or `rediss://`',
    fallback: 'none',
    secret: 'if it contains a password',
  }).describe('Evictions, limits, DPoP proofs and request log of all gateways.'),
  REDIS_TLS_CA: optionalText({ unit: 'PEM', fallback: "Node's" }).describe(
    'Authorities of the certificate of Redis.',
  ),
  REDIS_TLS_CERT: optionalText({ unit: 'PEM', fallback: 'none' }).describe(
    'Certificate, if Redis asks for one.',
  ),
  REDIS_TLS_KEY: optionalText({ unit: 'PEM', fallback: 'none', secret: true }).describe(
    'Private key of `REDIS_TLS_CERT`.',
  ),
} as const;

type RedisSettings = { readonly [Name in keyof typeof redisSettings]?: string | undefined };

/** Refuses settings of TLS to Redis that would be ignored, or do not suffice. */
export function requireRedisTls(settings: RedisSettings, context: z.RefinementCtx): void {
  const { REDIS_URL: url = '', REDIS_TLS_CA: ca, REDIS_TLS_CERT: cert, REDIS_TLS_KEY: key } = settings;
  const report = (name: keyof RedisSettings, message: string) =>
    context.addIssue({ code: 'custom', path: [name], message });
  if ((ca ?? cert ?? key) !== undefined && !url.startsWith('rediss://')) {
    report('REDIS_URL', 'must start with rediss://, because a REDIS_TLS_ setting is set');
  }
  if ((cert === undefined) !== (key === undefined)) {
    report(
      cert === undefined ? 'REDIS_TLS_CERT' : 'REDIS_TLS_KEY',
      'must be set, because the other of the two is',
    );
  }
}
