import { readFileSync } from 'node:fs';
import { z } from 'zod';

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
    rest: '',
  },
  { name: 'CONNECT_PORT', successor: 'RPC_PORT', rest: ' and call rpcs with grpcurl' },
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

interface Bounds {
  readonly min?: number;
  readonly max?: number;
  /** What is counted, such as `connections`; for the settings page. */
  readonly unit?: string;
}

/** A whole number with bounds; absent unless set. */
export function optionalInteger({ min = 0, max = Number.MAX_SAFE_INTEGER, unit }: Bounds) {
  return z.coerce.number().int().min(min).max(max).optional().meta({ unit });
}

/** A whole number with bounds and a default. */
export function integer(fallback: number, { min = 0, max = Number.MAX_SAFE_INTEGER, unit }: Bounds = {}) {
  return z.coerce.number().int().min(min).max(max).default(fallback).meta({ unit });
}

/** A TCP port; 0 lets the system pick a free one. */
export function port(fallback: number) {
  return integer(fallback, { max: 65_535 }).meta({ unit: 'port' });
}

const MIN_KEY_BYTES = 32;

/** A secret for HMAC or key derivation: base64 of at least 32 random bytes. */
export function secretKey() {
  return z
    .base64()
    .transform((text) => Buffer.from(text, 'base64'))
    .refine((key) => key.length >= MIN_KEY_BYTES, `must be base64 of at least ${MIN_KEY_BYTES} bytes`)
    .meta({ unit: `base64 of at least ${MIN_KEY_BYTES} random bytes`, secret: true });
}

/** A private key: Ed25519, PKCS #8 PEM. */
export function privateKey(error?: string) {
  return z.string(error).meta({ unit: 'Ed25519 key, PKCS #8 PEM', secret: true });
}

/** The maximum of Node's timers (larger values fire immediately) and of Postgres's timeouts. */
const LONGEST_MS = 2_147_483_647;

/**
 * A duration in milliseconds, at least 1. Zero is refused because it means "no limit" to some readers and "immediately" to others.
 */
export function durationMs(fallback: number) {
  const message = `must be a whole number of milliseconds from 1 to ${LONGEST_MS}`;
  return z.coerce
    .number(message)
    .int(message)
    .min(1, message)
    .max(LONGEST_MS, message)
    .default(fallback)
    .meta({ unit: 'ms' });
}

/** `host:port` of another service's rpc, or a gRPC name such as `dns:///consent:7002`; required. */
export function requiredAddress() {
  return z
    .string('must be set, as host:port')
    .regex(/^\S+:\d+$/, 'must be host:port')
    .meta({ unit: 'host:port' });
}

/** `host:port` of another service's rpc, or a gRPC name such as `dns:///consent:7002`. */
export function address(fallback: string) {
  return requiredAddress().default(fallback);
}

/** A comma-separated list of at least one name, such as `phds,portal`. */
export function list() {
  return z
    .string()
    .transform((text) => text.split(',').map((name) => name.trim()))
    .refine((names) => names.every((name) => name !== ''), 'must be a comma-separated list without gaps');
}
