import { fileURLToPath } from 'node:url';
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

/** Public keys for people to check their receipts with: nothing else may leak into a public document. */
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
  /** Address that people and partners know, and the issuer of tokens (`iss`); without a path. */
  PUBLIC_URL: publicUrl('http://localhost:8080'),
  /** Where a signed-out person signs in; gets `return_to`. */
  LOGIN_URL: z.url({ protocol: /^https?$/ }).default('http://localhost:8090/'),
  /** Directory of the built web app. */
  WEB_DIRECTORY: z.string().default(fileURLToPath(new URL('../../../packages/web/dist', import.meta.url))),
  AUTHORIZATION_ADDRESS: address('127.0.0.1:7001'),
  CONSENT_ADDRESS: address('127.0.0.1:7002'),
  HEALTH_DATA_ADDRESS: address('127.0.0.1:7003'),
  AUTHORIZATION_DEADLINE_MS: durationMs(2_000),
  CONSENT_DEADLINE_MS: durationMs(2_000),
  HEALTH_DATA_DEADLINE_MS: durationMs(3_000),
  /** Limits and evictions shared by all gateways; absent: limits are this process's own. */
  REDIS_URL: z.string().optional(),
  /** Requests a minute of one app for one user. */
  LIMIT_APP_USER_PER_MINUTE: integer(300, { min: 1 }),
  /** Requests a minute of all apps together for one user; three times what one app has unless set. */
  LIMIT_USER_ALL_APPS_PER_MINUTE: z.coerce.number().int().min(1).optional(),
  /** Requests a minute of one app. */
  LIMIT_APP_PER_MINUTE: integer(6_000, { min: 1 }),
  /** Requests a minute of one app under `/oauth`. */
  LIMIT_CLIENT_PER_MINUTE: integer(6_000, { min: 1 }),
  /** Requests a minute of one person's session that change nothing. */
  LIMIT_USER_PER_MINUTE: integer(600, { min: 1 }),
  /** Requests a minute of one person's session that change something. */
  LIMIT_USER_CHANGES_PER_MINUTE: integer(120, { min: 1 }),
  /** Tokens a minute that one app gets by its client credentials alone. */
  LIMIT_CLIENT_CREDENTIALS_PER_MINUTE: integer(60, { min: 1 }),
  /** Registrations of apps and new secrets a minute of one developer. */
  LIMIT_REGISTRATIONS_PER_MINUTE: integer(20, { min: 1 }),
  /** Previews a minute of one person's own data. */
  LIMIT_PREVIEWS_PER_MINUTE: integer(60, { min: 1 }),
  /** Authorization requests a minute from one address that are opened without an app's secret. */
  LIMIT_ANONYMOUS_AUTHORIZATIONS_PER_MINUTE: integer(60, { min: 1 }),
  /** Failed authentications a minute from one address, and for one presented client id. */
  LIMIT_AUTH_FAILURES_PER_MINUTE: integer(60, { min: 1 }),
  /** No refused authentication is answered sooner than this. Milliseconds. */
  AUTH_FAILURE_FLOOR_MS: durationMs(25),
  /** Proxies in front whose `X-Forwarded-For` is believed: their number. */
  TRUST_PROXY: integer(0, { max: 10 }),
  /** How often the numbers of refused requests are handed to consent, for the usage of apps; a gateway that dies loses them. Milliseconds. */
  USAGE_INTERVAL_MS: durationMs(5_000),
  MAX_BODY_BYTES: integer(64 * 1024, { min: 1 }),
  MAX_URL_BYTES: integer(8 * 1024, { min: 256 }),
  MAX_HEADER_BYTES: integer(16 * 1024, { min: 4 * 1024 }),
  /** A connection on which nothing moves for so long while a request is under way is closed. Milliseconds. */
  STALLED_CONNECTION_MS: durationMs(30_000),
  /** Access tokens whose facts are remembered. */
  CACHE_MAX_TOKENS: integer(50_000, { min: 1 }),
  /** How long the facts are remembered at most, by half of it at least. Shorter than the 60 s of the assertion among them. Milliseconds. */
  CACHE_TTL_MS: integer(50_000, { max: 55_000 }),
  /** The keys that consent receipts are signed with, now and earlier (JWKS); published. */
  RECEIPT_PUBLIC_KEYS: publicKeys,
  /** When version 1 became deprecated and when it goes away; absent: neither is planned. */
  API_V1_DEPRECATION: httpDate,
  API_V1_SUNSET: httpDate,
});

/** Every setting of the gateway. */
const gatewaySettings = gatewayShape.superRefine((settings, context) => {
  const { LIMIT_APP_USER_PER_MINUTE: ofOneApp, LIMIT_USER_ALL_APPS_PER_MINUTE: ofAllApps } = settings;
  if (ofAllApps === undefined || ofAllApps >= ofOneApp) return;
  const message = `must not be less than LIMIT_APP_USER_PER_MINUTE (${ofOneApp}), which no app could use up then`;
  context.addIssue({ code: 'custom', path: ['LIMIT_USER_ALL_APPS_PER_MINUTE'], message });
});

type Settings = z.infer<typeof gatewaySettings>;

export type GatewayConfig = Readonly<Settings & { LIMIT_USER_ALL_APPS_PER_MINUTE: number }>;

/** Reads the gateway's settings; throws ConfigError naming every bad one. */
export function readGatewayConfig(env?: NodeJS.ProcessEnv): GatewayConfig {
  const settings = readConfig(gatewaySettings, env);
  const ofAllApps = settings.LIMIT_USER_ALL_APPS_PER_MINUTE ?? 3 * settings.LIMIT_APP_USER_PER_MINUTE;
  return Object.freeze({ ...settings, LIMIT_USER_ALL_APPS_PER_MINUTE: ofAllApps });
}
