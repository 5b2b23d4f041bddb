import { fileURLToPath } from 'node:url';
import { REVOCATION_PROPAGATION_SECONDS } from '@phds/catalog/lifetimes';
import {
  address,
  commonSettings,
  durationMs,
  integer,
  port,
  readConfig,
  secretKey,
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

const LOOPBACK = /^((.+\.)?localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** The issuer of an OpenID provider. Plain http would show codes and secrets to the network, so it is for this machine only. */
function isIssuer(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.search !== '' || url.hash !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.test(url.hostname));
}

const gatewayShape = z.object({
  ...commonSettings,
  ...sessionSettings,
  /** The public HTTP port. */
  PORT: port(8080),
  /** Public base URL of the service, without a path; also the token issuer (`iss`). */
  PUBLIC_URL: publicUrl('http://localhost:8080'),
  /**
   * Issuer of the OpenID provider at which people sign in, exactly as its tokens name it; the same as SESSION_ISSUER. Absent: nobody
   * can sign in here, and sessions come from elsewhere.
   */
  OIDC_ISSUER: z.string().refine(isIssuer, 'must be an https URL, or http on this machine').optional(),
  /** The gateway's client at the provider; one of SESSION_AUDIENCE. */
  OIDC_CLIENT_ID: z.string().optional(),
  OIDC_CLIENT_SECRET: z.string().optional(),
  /** Requested scopes; more than `openid` makes the ID token longer. */
  OIDC_SCOPE: z
    .string()
    .default('openid')
    .refine((scope) => scope.split(' ').includes('openid'), 'must contain openid'),
  /** Encrypts sign-ins in progress; the same for all gateways. */
  SIGN_IN_KEY: secretKey().optional(),
  /** Maximum wait for an answer of the provider. Milliseconds. */
  OIDC_DEADLINE_MS: durationMs(5_000),
  /** Directory of the built web app. */
  WEB_DIRECTORY: z.string().default(fileURLToPath(new URL('../../../packages/web/dist', import.meta.url))),
  /** Directory of the built documentation. */
  DOCS_DIRECTORY: z.string().default(fileURLToPath(new URL('../../../packages/docs/dist', import.meta.url))),
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
  /** The limits of sandbox apps, like LIMIT_APP_USER_PER_MINUTE and the next two; each defaults to that of live apps. */
  LIMIT_SANDBOX_APP_USER_PER_MINUTE: z.coerce.number().int().min(1).optional(),
  LIMIT_SANDBOX_APP_PER_MINUTE: z.coerce.number().int().min(1).optional(),
  LIMIT_SANDBOX_CLIENT_PER_MINUTE: z.coerce.number().int().min(1).optional(),
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
  /** Summaries a minute of one person's accesses by day of a time zone. */
  LIMIT_SUMMARIES_PER_MINUTE: integer(120, { min: 1 }),
  /** Authorization requests a minute from one address that carry no app secret. */
  LIMIT_ANONYMOUS_AUTHORIZATIONS_PER_MINUTE: integer(60, { min: 1 }),
  /** Sign-ins begun a minute from one address, and as many finished. */
  LIMIT_SIGN_INS_PER_MINUTE: integer(300, { min: 1 }),
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
  /**
   * Interval at which the request log of the apps is moved to Redis, where all gateways read it. A gateway that crashes loses the
   * requests of one interval. Milliseconds.
   */
  REQUEST_LOG_INTERVAL_MS: durationMs(1_000),
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
  /** Interval at which cached tokens in steady use are renewed together before they end. Milliseconds. */
  CACHE_RENEWAL_INTERVAL_MS: durationMs(1_000),
  /** Current and earlier public keys for consent receipts (JWKS); published. */
  RECEIPT_PUBLIC_KEYS: publicKeys,
  /** When version 1 becomes deprecated and when it is removed; absent when not planned. */
  API_V1_DEPRECATION: httpDate,
  API_V1_SUNSET: httpDate,
});

const configSchema = gatewayShape.superRefine((settings, context) => {
  for (const [name, message] of [...findSmallLimit(settings), ...findOpenidProblems(settings)]) {
    context.addIssue({ code: 'custom', path: [name], message });
  }
});

type Settings = z.infer<typeof gatewayShape>;
type Problem = readonly [name: keyof Settings, message: string];

function findSmallLimit(settings: Settings): Problem[] {
  const { LIMIT_APP_USER_PER_MINUTE: ofOneApp, LIMIT_USER_ALL_APPS_PER_MINUTE: ofAllApps } = settings;
  if (ofAllApps === undefined || ofAllApps >= ofOneApp) return [];
  const message = `must not be less than LIMIT_APP_USER_PER_MINUTE (${ofOneApp}), which no app could use up then`;
  return [['LIMIT_USER_ALL_APPS_PER_MINUTE', message]];
}

const OF_PROVIDER = ['OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'SIGN_IN_KEY'] as const;

/** The services verify the provider's tokens by their session settings, so the two must name the same provider and client. */
function findOpenidProblems(settings: Settings): Problem[] {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId } = settings;
  const isSet = (name: keyof Settings) => settings[name] !== undefined;
  if (issuer === undefined) {
    return OF_PROVIDER.filter(isSet).map((name) => [name, 'needs OIDC_ISSUER, which is not set'] as const);
  }
  const missing = OF_PROVIDER.filter((name) => !isSet(name));
  const problems: Problem[] = missing.map((name) => [name, 'must be set, because OIDC_ISSUER is'] as const);
  if (issuer !== settings.SESSION_ISSUER) {
    problems.push(['OIDC_ISSUER', 'must be the same as SESSION_ISSUER']);
  }
  if (clientId !== undefined && !settings.SESSION_AUDIENCE.includes(clientId)) {
    problems.push(['OIDC_CLIENT_ID', 'must be one of SESSION_AUDIENCE']);
  }
  return problems;
}

/** The OpenID provider and the gateway's client at it. */
export interface OpenidSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: string;
  readonly signInKey: Buffer;
}

export type Config = Readonly<
  Settings &
    Record<
      `LIMIT_${'USER_ALL_APPS' | 'SANDBOX_APP_USER' | 'SANDBOX_APP' | 'SANDBOX_CLIENT'}_PER_MINUTE`,
      number
    > & {
      /** Null when nobody can sign in here. */
      openid: OpenidSettings | null;
    }
>;

/** Reads the gateway's settings. Throws a ConfigError that names every invalid one. */
export function readEnvironment(env: NodeJS.ProcessEnv): Config {
  const settings = readConfig(configSchema, env);
  const { LIMIT_APP_USER_PER_MINUTE: ofUser, LIMIT_APP_PER_MINUTE: ofApp } = settings;
  return Object.freeze({
    ...settings,
    LIMIT_USER_ALL_APPS_PER_MINUTE: settings.LIMIT_USER_ALL_APPS_PER_MINUTE ?? 3 * ofUser,
    LIMIT_SANDBOX_APP_USER_PER_MINUTE: settings.LIMIT_SANDBOX_APP_USER_PER_MINUTE ?? ofUser,
    LIMIT_SANDBOX_APP_PER_MINUTE: settings.LIMIT_SANDBOX_APP_PER_MINUTE ?? ofApp,
    LIMIT_SANDBOX_CLIENT_PER_MINUTE:
      settings.LIMIT_SANDBOX_CLIENT_PER_MINUTE ?? settings.LIMIT_CLIENT_PER_MINUTE,
    openid: toOpenidSettings(settings),
  });
}

function toOpenidSettings(settings: Settings): OpenidSettings | null {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret } = settings;
  const { OIDC_SCOPE: scope, SIGN_IN_KEY: signInKey } = settings;
  if (!issuer || !clientId || !clientSecret || !signInKey) return null;
  return { issuer, clientId, clientSecret, scope, signInKey };
}
