import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { STEP_UP_ACTIONS } from './step-up.ts';

/** Thrown when the environment is invalid. Names every invalid setting and contains no values. */
export class ConfigError extends Error {
  constructor(problems: readonly string[]) {
    super(`Configuration is not usable:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

/**
 * Reads the environment once into a typed, frozen object. Each setting KEY may instead be read from the file named by KEY_FILE,
 * which keeps secrets out of the environment. The file's content is trimmed.
 */
export function readConfig<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  env: NodeJS.ProcessEnv = process.env,
): Readonly<z.infer<z.ZodObject<Shape>>> {
  const problems: string[] = [];
  const values: Record<string, string> = {};
  for (const key of Object.keys(schema.shape)) {
    const value = readSetting(key, env, problems);
    if (value !== undefined && value !== '') values[key] = value;
  }
  problems.push(...findRemoved(schema.shape, env));
  const result = schema.safeParse(values);
  if (!result.success) {
    problems.push(...result.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`));
  }
  if (problems.length > 0 || !result.success) throw new ConfigError(problems);
  return Object.freeze(result.data);
}

/** Settings of earlier versions, rejected because they would be ignored silently: what replaces each, and the condition. */
const REMOVED_SETTINGS = [
  {
    name: 'INTERNAL_HTTP_PORT',
    successor: 'PROBE_PORT',
    rest: ', and CONNECT_PORT if rpcs are called in the Connect protocol',
  },
  {
    name: 'LOGIN_URL',
    successor: 'OIDC_ISSUER',
    rest: ', OIDC_CLIENT_ID, OIDC_CLIENT_SECRET and SIGN_IN_KEY (docs/signing-in.md)',
  },
] as const;

function findRemoved(shape: z.ZodRawShape, env: NodeJS.ProcessEnv): string[] {
  return REMOVED_SETTINGS.filter(
    ({ name, successor }) => successor in shape && (env[name] || env[`${name}_FILE`]),
  ).map(({ name, successor, rest }) => `${name}: no longer exists; set ${successor}${rest}`);
}

function readSetting(key: string, env: NodeJS.ProcessEnv, problems: string[]): string | undefined {
  const file = env[`${key}_FILE`];
  if (file === undefined || file === '') return env[key];
  if (env[key] !== undefined && env[key] !== '') {
    problems.push(`${key}: set it or ${key}_FILE, not both`);
    return undefined;
  }
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    problems.push(`${key}_FILE: the file cannot be read`);
    return undefined;
  }
}

/** A whole number with bounds and a default. */
export function integer(fallback: number, { min = 0, max = Number.MAX_SAFE_INTEGER } = {}) {
  return z.coerce.number().int().min(min).max(max).default(fallback);
}

/** A TCP port; 0 lets the system pick a free one. */
export function port(fallback: number) {
  return integer(fallback, { max: 65_535 });
}

const MIN_KEY_BYTES = 32;

/** A secret for HMAC or key derivation: base64 of at least 32 random bytes. */
export function secretKey() {
  return z
    .base64()
    .transform((text) => Buffer.from(text, 'base64'))
    .refine((key) => key.length >= MIN_KEY_BYTES, `must be base64 of at least ${MIN_KEY_BYTES} bytes`);
}

/** The settings of a service with rpcs; `probes` is the default port of /livez and /readyz. */
export function rpcSettings(defaults: { readonly rpc: number; readonly probes: number }) {
  return {
    /** gRPC. */
    RPC_PORT: port(defaults.rpc),
    /** /livez and /readyz in plain HTTP; nothing else is served on this port. */
    PROBE_PORT: port(defaults.probes),
    /** The rpcs in the Connect protocol (HTTP and JSON, for curl). Absent: not served. */
    CONNECT_PORT: z.coerce.number().int().min(0).max(65_535).optional(),
  } as const;
}

/** The maximum of Node's timers (larger values fire immediately) and of Postgres's timeouts. */
const LONGEST_MS = 2_147_483_647;

/**
 * A duration in milliseconds, at least 1. Zero is refused because it means "no limit" to some readers and "immediately" to others.
 */
export function durationMs(fallback: number) {
  const message = `must be a whole number of milliseconds from 1 to ${LONGEST_MS}`;
  return z.coerce.number(message).int(message).min(1, message).max(LONGEST_MS, message).default(fallback);
}

/** `host:port` of another service's rpc, or a gRPC name such as `dns:///consent:7002`; required. */
export function requiredAddress() {
  return z.string('must be set, as host:port').regex(/^\S+:\d+$/, 'must be host:port');
}

/** `host:port` of another service's rpc, or a gRPC name such as `dns:///consent:7002`. */
export function address(fallback: string) {
  return requiredAddress().default(fallback);
}

/** The settings of every service. */
export const commonSettings = {
  /** pino level. */
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  /** Address that the ports listen on. */
  HOST: z.string().default('127.0.0.1'),
  /** This service's private key for service tokens (Ed25519, PKCS #8 PEM). */
  SERVICE_PRIVATE_KEY: z.string(),
  /** Public keys of all services (JWKS; `kid` is the service's name). */
  SERVICE_PUBLIC_KEYS: z.string(),
  /** CA certificate, this service's certificate and its key (PEM files). Together they enable TLS between services. */
  TLS_CA: z.string().optional(),
  TLS_CERT: z.string().optional(),
  TLS_KEY: z.string().optional(),
} as const;

/** A comma-separated list of at least one name, such as `phds,portal`. */
export function list() {
  return z
    .string()
    .transform((text) => text.split(',').map((name) => name.trim()))
    .refine((names) => names.every((name) => name !== ''), 'must be a comma-separated list without gaps');
}

function isKeySource(text: string): boolean {
  if (!text.startsWith('{')) return /^https?:$/.test(URL.parse(text)?.protocol ?? '');
  try {
    const set: { readonly keys?: unknown } = JSON.parse(text);
    return Array.isArray(set.keys);
  } catch {
    return false;
  }
}

/** The settings of a service that verifies sessions. */
export const sessionSettings = {
  SESSION_ISSUER: z.string(),
  /** Our client id at the identity provider; the audience of sessions that the host application signs itself. */
  SESSION_AUDIENCE: list(),
  /** The claim of a session that is the user's id. */
  SESSION_USER_ID_CLAIM: z.string().default('sub'),
  /** URL of the identity provider's JWKS, or the JWKS itself. */
  SESSION_JWKS: z.string().refine(isKeySource, 'must be an http or https URL, or a JWKS'),
  /** Maximum wait for the JWKS. Milliseconds. */
  SESSION_JWKS_TIMEOUT_MS: durationMs(2_000),
  /** The actions that need a recent or strong sign-in; none by default. */
  STEP_UP_FOR: list()
    .pipe(z.array(z.enum(STEP_UP_ACTIONS, `must name only ${STEP_UP_ACTIONS.join(', ')}`)))
    .default([]),
  /** How long ago that sign-in may be, in seconds. */
  STEP_UP_MAX_AGE_SECONDS: z.coerce.number().int().min(60).max(86_400).optional(),
  /** The accepted values of `acr` of that sign-in. */
  STEP_UP_ACR: list().default([]),
} as const;

interface StepUpSettings {
  readonly STEP_UP_FOR: readonly string[];
  readonly STEP_UP_MAX_AGE_SECONDS?: number | undefined;
  readonly STEP_UP_ACR: readonly string[];
}

/** Refuses settings that name actions but not what their sign-in needs; for a service that checks it. */
export function requireStepUpCriterion(settings: StepUpSettings, context: z.RefinementCtx): void {
  const { STEP_UP_FOR: actions, STEP_UP_MAX_AGE_SECONDS: maxAge, STEP_UP_ACR: acr } = settings;
  if (actions.length === 0 || maxAge !== undefined || acr.length > 0) return;
  const message = 'needs STEP_UP_MAX_AGE_SECONDS or STEP_UP_ACR';
  context.addIssue({ code: 'custom', path: ['STEP_UP_FOR'], message });
}

/** The settings of a service with a database. */
export const databaseSettings = {
  /** Connection string of the runtime role. */
  DATABASE_URL: z.string(),
  DATABASE_POOL_SIZE: integer(10, { min: 1, max: 200 }),
  /** Maximum wait for a connection: a free one of the pool, or a new one. */
  DATABASE_CONNECT_TIMEOUT_MS: durationMs(2_000),
  DATABASE_STATEMENT_TIMEOUT_MS: durationMs(10_000),
} as const;
