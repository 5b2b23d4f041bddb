import { fileURLToPath } from 'node:url';
import { REVOCATION_PROPAGATION_SECONDS } from '@phds/catalog/lifetimes';
import {
  address,
  commonSettings,
  durationMs,
  integer,
  port,
  readConfig,
  sessionSettings,
} from '@phds/service-kit/config';
import { z } from 'zod';

/** A public address without its trailing slash. */
const publicUrl = (fallback: string) =>
  z
    .string()
    .default(fallback)
    .refine((text) => URL.canParse(text) && /^https?:/.test(text), 'must be an http or https URL')
    .transform((text) => text.replace(/\/+$/, ''));

const httpDate = z
  .string()
  .refine((text) => !Number.isNaN(Date.parse(text)), 'must be a date')
  .transform((text) => new Date(text))
  .optional();

/** Public keys that verify consent receipts. The schema is strict because the value is published. */
const publicKeys = z
  .string()
  .default('{"keys":[]}')
  .transform((text, context) => {
    const parsed = PUBLIC_JWKS.safeParse(parseJson(text));
    if (parsed.success) return parsed.data;
    context.addIssue({ code: 'custom', message: 'must be a JWKS of Ed25519 public keys, each with a kid' });
    return z.NEVER;
  });

const PUBLIC_JWKS = z.object({
  keys: z.array(
    z
      .object({
        kty: z.literal('OKP'),
        crv: z.literal('Ed25519'),
        x: z.string(),
        kid: z.string().min(1),
        d: z.never().optional(),
      })
      .transform(({ kty, crv, x, kid }) => ({ kty, crv, x, kid, alg: 'EdDSA', use: 'sig' })),
  ),
});

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const gatewayShape = z.object({
  ...commonSettings,
  ...sessionSettings,
  /** The public HTTP port. */
  PORT: port(8080),
  /** Public base URL of the service, without a path; also the token issuer (`iss`). */
  PUBLIC_URL: publicUrl('http://localhost:8080'),
  /** Sign-in page for people without a session; receives `return_to`. */
  LOGIN_URL: z.url({ protocol: /^https?$/ }).default('http://localhost:8090/'),
  /** Directory of the built web app. */
  WEB_DIRECTORY: z.string().default(fileURLToPath(new URL('../../../packages/web/dist', import.meta.url))),
  AUTHORIZATION_ADDRESS: address('127.0.0.1:7001'),
  CONSENT_ADDRESS: address('127.0.0.1:7002'),
  HEALTH_DATA_ADDRESS: address('127.0.0.1:7003'),
  AUTHORIZATION_DEADLINE_MS: durationMs(2_000),
  CONSENT_DEADLINE_MS: durationMs(2_000),
  HEALTH_DATA_DEADLINE_MS: durationMs(3_000),
  /** Redis for limits and evictions shared by all gateways. Without it, each gateway limits by itself. */
  REDIS_URL: z.string().optional(),
  /** Maximum wait for Redis; after it, a gateway limits by itself. Milliseconds. */
  REDIS_COMMAND_TIMEOUT_MS: durationMs(250),
  /** Requests a minute of one app for one user. */
  LIMIT_APP_USER_PER_MINUTE: integer(300, { min: 1 }),
  /** Requests a minute of all apps together for one user; defaults to three times LIMIT_APP_USER_PER_MINUTE. */
  LIMIT_USER_ALL_APPS_PER_MINUTE: z.coerce.number().int().min(1).optional(),
  /** Requests a minute of one app. */
  LIMIT_APP_PER_MINUTE: integer(6_000, { min: 1 }),
  /** Requests a minute of one app under `/oauth`. */
  LIMIT_CLIENT_PER_MINUTE: integer(6_000, { min: 1 }),
  /** Read-only requests a minute of one person's session. */
  LIMIT_USER_PER_MINUTE: integer(600, { min: 1 }),
  /** Changing requests a minute of one person's session. */
  LIMIT_USER_CHANGES_PER_MINUTE: integer(120, { min: 1 }),
  /** Client-credentials tokens a minute of one app. */
  LIMIT_CLIENT_CREDENTIALS_PER_MINUTE: integer(60, { min: 1 }),
  /** App registrations and secret rotations a minute of one developer. */
  LIMIT_REGISTRATIONS_PER_MINUTE: integer(20, { min: 1 }),
  /** Previews a minute of one person's own data. */
  LIMIT_PREVIEWS_PER_MINUTE: integer(60, { min: 1 }),
  /** Authorization requests a minute from one address that carry no app secret. */
  LIMIT_ANONYMOUS_AUTHORIZATIONS_PER_MINUTE: integer(60, { min: 1 }),
  /** Failed authentications a minute from one address, and for one presented client id. */
  LIMIT_AUTH_FAILURES_PER_MINUTE: integer(60, { min: 1 }),
  /** Minimum time before a failed authentication is answered. Milliseconds. */
  AUTH_FAILURE_FLOOR_MS: durationMs(25),
  /** Number of trusted proxies in front, whose `X-Forwarded-For` is used. */
  TRUST_PROXY: integer(0, { max: 10 }),
  /**
   * Interval at which counts of refused requests are sent to consent for app usage. A gateway that crashes loses the counts of one
   * interval. Milliseconds.
   */
  USAGE_INTERVAL_MS: durationMs(5_000),
  MAX_BODY_BYTES: integer(64 * 1024, { min: 1 }),
  MAX_URL_BYTES: integer(8 * 1024, { min: 256 }),
  MAX_HEADER_BYTES: integer(16 * 1024, { min: 4 * 1024 }),
  /** A connection without any traffic for this long during a request is closed. Milliseconds. */
  STALLED_CONNECTION_MS: durationMs(30_000),
  /** Maximum number of access tokens in the cache. */
  CACHE_MAX_TOKENS: integer(50_000, { min: 1 }),
  /**
   * Maximum lifetime of a cache entry; the actual lifetime is between half of it and all of it. Shorter than the 60 s of the cached
   * assertion. Milliseconds.
   */
  CACHE_TTL_MS: integer(50_000, { max: REVOCATION_PROPAGATION_SECONDS * 1000 - 5_000 }),
  /** Current and earlier public keys for consent receipts (JWKS); published. */
  RECEIPT_PUBLIC_KEYS: publicKeys,
  /** When version 1 becomes deprecated and when it is removed; absent when not planned. */
  API_V1_DEPRECATION: httpDate,
  API_V1_SUNSET: httpDate,
});

const configSchema = gatewayShape.superRefine((settings, context) => {
  const { LIMIT_APP_USER_PER_MINUTE: ofOneApp, LIMIT_USER_ALL_APPS_PER_MINUTE: ofAllApps } = settings;
  if (ofAllApps === undefined || ofAllApps >= ofOneApp) return;
  const message = `must not be less than LIMIT_APP_USER_PER_MINUTE (${ofOneApp}), which no app could use up then`;
  context.addIssue({ code: 'custom', path: ['LIMIT_USER_ALL_APPS_PER_MINUTE'], message });
});

type Settings = z.infer<typeof configSchema>;

export type Config = Readonly<Settings & { LIMIT_USER_ALL_APPS_PER_MINUTE: number }>;

/** Reads the gateway's settings. Throws a ConfigError that names every invalid one. */
export function readEnvironment(env: NodeJS.ProcessEnv): Config {
  const settings = readConfig(configSchema, env);
  const ofAllApps = settings.LIMIT_USER_ALL_APPS_PER_MINUTE ?? 3 * settings.LIMIT_APP_USER_PER_MINUTE;
  return Object.freeze({ ...settings, LIMIT_USER_ALL_APPS_PER_MINUTE: ofAllApps });
}
