import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** A setting that cannot be used, and why. The reason contains no secret. */
interface SettingProblem {
  readonly setting: string;
  readonly reason: string;
}

export interface ConfigErrorOptions extends ErrorOptions {
  /** Whether it can end without a change of the setting and a restart, as when a host name is not known yet. Default: it cannot. */
  readonly mayHeal?: boolean;
}

/** Settings that cannot be used. Names all of them, with the page about each, and contains no values. */
export class ConfigError extends Error {
  readonly problems: readonly (SettingProblem & { readonly page: string })[];
  readonly mayHeal: boolean;

  constructor(problems: readonly SettingProblem[], { mayHeal = false, ...options }: ConfigErrorOptions = {}) {
    const located = problems.map((problem) => ({ ...problem, page: findPage(problem.setting) }));
    const lines = located.map(({ setting, reason, page }) => `  - ${setting}: ${reason} (${page})`);
    super(`Configuration is not usable:\n${lines.join('\n')}`, options);
    this.name = 'ConfigError';
    this.problems = located;
    this.mayHeal = mayHeal;
  }
}

/** The pages that say more about some settings than the list of all. */
const PAGES = [
  [/^(\w+_)?DATABASE_URL/, 'docs/operations/deploy.md#database-roles'],
  [/^(REDIS_|PUBLIC_)?TLS_/, 'docs/operations/deploy.md#tls'],
  [/_KEYS?(_FILE)?$/, 'docs/operations/keys.md#making-keys'],
  [/^(OIDC|SESSION)_/, 'docs/operations/signing-in.md'],
] as const;

function findPage(setting: string): string {
  return PAGES.find(([names]) => names.test(setting))?.[1] ?? 'docs/operations/settings.md';
}

/** The files that settings were read from. */
export interface SettingSource {
  /** By setting. */
  readonly files: ReadonlyMap<string, string>;
  /** What the file of a setting has now; null if it cannot be read. */
  text(setting: string): string | null;
  /** The value of a setting by its file as it is now. Throws a ConfigError if it cannot be used. */
  read(setting: string): unknown;
}

const SOURCE = Symbol('source of the settings');

/** Where a configuration comes from, also that of a copy of it. Undefined if it was not read by `readConfig`. */
export function sourceOf(config: object): SettingSource | undefined {
  return (config as { readonly [SOURCE]?: SettingSource })[SOURCE];
}

/**
 * Reads the environment once into a typed, frozen object. Each setting KEY may instead be read from the file named by KEY_FILE,
 * which keeps secrets out of the environment. The file's content is trimmed.
 */
export function readConfig<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  env: NodeJS.ProcessEnv = process.env,
): Readonly<z.infer<z.ZodObject<Shape>>> {
  const problems: SettingProblem[] = [];
  const values: Record<string, string> = {};
  for (const key of Object.keys(schema.shape)) {
    const value = readSetting(key, env, problems);
    if (value !== undefined && value !== '') values[key] = value;
  }
  const result = schema.safeParse(values);
  if (!result.success) {
    problems.push(
      ...result.error.issues.map(({ code, path, message }) => {
        const setting = path.join('.');
        const isMissing = code === 'invalid_type' && values[setting] === undefined;
        // The library's text says which type is expected; what a schema says in place of it stays.
        return { setting, reason: isMissing ? message.replace(/^Invalid input.*/, 'must be set') : message };
      }),
    );
  }
  if (problems.length > 0 || !result.success) throw new ConfigError(problems);
  const source = toSource(schema.shape, env);
  return Object.freeze(source.files.size === 0 ? result.data : { ...result.data, [SOURCE]: source });
}

function toSource(shape: z.ZodRawShape, env: NodeJS.ProcessEnv): SettingSource {
  const named = Object.keys(shape).flatMap((key) => {
    const file = env[`${key}_FILE`];
    return file ? [[key, file] as const] : [];
  });
  const files = new Map(named);
  const text = (setting: string) => readText(files.get(setting) ?? '');
  return {
    files,
    text,
    read(setting) {
      const refuse = (reason: string) => new ConfigError([{ setting, reason }]);
      const value = text(setting);
      if (!value) throw refuse(value === null ? 'the file cannot be read' : 'the file is empty');
      const result = (shape[setting] as z.ZodType).safeParse(value);
      if (result.success) return result.data;
      throw refuse(result.error.issues.map(({ message }) => message).join(', '));
    },
  };
}

/** Null if the file cannot be read. */
function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return null;
  }
}

function readSetting(key: string, env: NodeJS.ProcessEnv, problems: SettingProblem[]): string | undefined {
  const file = env[`${key}_FILE`];
  if (file === undefined || file === '') return env[key];
  if (env[key] !== undefined && env[key] !== '') {
    problems.push({ setting: key, reason: `set it or ${key}_FILE, not both` });
    return undefined;
  }
  const text = readText(file);
  if (text === null) problems.push({ setting: `${key}_FILE`, reason: 'the file cannot be read' });
  return text ?? undefined;
}

interface Bounds {
  readonly min?: number;
  readonly max?: number;
  /** What is counted, such as `connections`; for the settings page. */
  readonly unit?: string;
}

/** `true` or `false`; false unless set. */
export function flag() {
  return z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true');
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
    .meta({ unit: `${MIN_KEY_BYTES} or more random bytes in base64`, secret: true });
}

/** A private key: Ed25519, PKCS #8 PEM. */
export function privateKey(error?: string) {
  return z
    .string(error)
    .refine(isPrivateKey, 'must be an Ed25519 private key (PKCS #8 PEM)')
    .meta({ unit: 'Ed25519, PKCS #8 PEM', secret: true });
}

function isPrivateKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === 'ed25519';
  } catch {
    return false;
  }
}

/** Public keys as a JWKS, with at least one for each of these holders (`kid`), without whose key the service is of no use. */
export function publicKeys(...holders: readonly string[]) {
  return z
    .string()
    .superRefine((text, context) => {
      const kids = findKids(text);
      const missing = holders.filter((holder) => kids?.includes(holder) === false);
      const report = (message: string) => context.addIssue({ code: 'custom', message });
      if (kids === null) report('must be a JWKS');
      else if (kids.length === 0) report('must have at least one key');
      else if (missing.length > 0) report(`has no key of ${missing.join(', ')}`);
    })
    .meta({ unit: 'JWKS' });
}

/** The `kid` of each key; null if the text is not a JWKS. */
function findKids(text: string): unknown[] | null {
  try {
    const { keys }: { keys?: unknown } = JSON.parse(text);
    return Array.isArray(keys) ? keys.map((key: { kid?: unknown } | null) => key?.kid) : null;
  } catch {
    return null;
  }
}

/** A text that may be absent. */
export function optionalText(meta: z.core.GlobalMeta) {
  return z.string().optional().meta(meta);
}

/** The connection string of a database. */
export function connectionString(error?: string) {
  return z
    .string(error)
    .refine((text) => /^postgres(ql)?:\/\//.test(text), 'must start with postgresql://')
    .refine((text) => !/[?&]options=/i.test(text), 'must not have the parameter options')
    .meta({ unit: 'connection string', secret: true });
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
