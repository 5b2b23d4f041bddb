import { fileURLToPath } from 'node:url';
import { REVOCATION_PROPAGATION_SECONDS } from '@phds/catalog/lifetimes';
import {
  address,
  durationMs,
  integer,
  optionalText,
  port,
  secretKey,
} from '@phds/service-kit/settings/config';
import {
  commonSettings,
  isProtectedAddress,
  probePort,
  redisSettings,
  sandboxSettings,
  sessionSettings,
} from '@phds/service-kit/settings/settings';
import { z } from 'zod';
import { limitTable } from './limits/limit-table.ts';

const line = z
  .string('must be a text')
  .max(300)
  .regex(/^[^\r\n]+$/, 'must be one line')
  .optional();

/** What partners and people are told about the deployment. */
const DEPLOYMENT = z.strictObject(
  {
    operator: line,
    contact: line,
    terms: line,
    statusPage: line,
    webhookSenders: line,
    region: line,
    privacyNotice: z
      .string()
      .regex(/^https:\/\/[^\s"<>]+$/, 'must be https://…')
      .optional(),
  },
  'must be JSON of operator, contact, terms, statusPage, webhookSenders, region, privacyNotice',
);

const deployment = {
  DEPLOYMENT: z
    .string()
    .default('{}')
    .transform(parseJson)
    .pipe(DEPLOYMENT)
    .meta({ unit: 'JSON object of texts', fallback: 'none' })
    .describe(
      'For *Before you go live*: `operator`, `contact` for partners, `terms`, `statusPage`, `webhookSenders` (addresses), `region` of ' +
        'the data. The footer of pages has `operator` and links `privacyNotice`, an https URL.',
    ),
  SUPPORT_URL: z
    .string()
    .regex(
      /^(https:\/\/[^\s"<>]+|mailto:[^\s"<>?]+@[^\s"<>?]+)$/,
      'must be https://… or mailto:…, the latter without a question mark',
    )
    .optional()
    .meta({ unit: '`https://…` or `mailto:…`', fallback: 'none' })
    .describe(
      'Where people ask for help (linked in the footer), or report an app; the client id is added as `app`, or `subject`.',
    ),
  SECURITY_CONTACT: z
    .string()
    .regex(/^(https:\/\/|mailto:)[^\s]+$/, 'must be https:// or mailto:')
    .optional()
    .meta({ unit: 'URL', fallback: 'none' })
    .describe('Where vulnerabilities are reported, in `/.well-known/security.txt`.'),
} as const;

/** What a connection and its requests may take of the gateway. */
const connectionSettings = {
  KEEP_ALIVE_SECONDS: integer(75, { min: 1, max: 3_600, unit: 's' }).describe(
    '[Time](in-front.md#connections-that-are-kept) for which an idle connection is kept.',
  ),
  MAX_CONNECTIONS: integer(2_000, { min: 1, unit: 'connections' }).describe(
    'Maximum number of connections to the public port, idle ones included; more are closed.',
  ),
} as const;

/** TLS of the public port. */
const publicTlsSettings = {
  PUBLIC_TLS_CERT: optionalText({ unit: 'PEM', fallback: 'none' }).describe(
    '[Certificate](deploy.md#tls) of the public port, with its chain.',
  ),
  PUBLIC_TLS_KEY: optionalText({ unit: 'PEM', fallback: 'none', secret: true }).describe(
    'Private key of `PUBLIC_TLS_CERT`.',
  ),
} as const;

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

/** Where and how people sign in. */
const signIn = {
  OIDC_ISSUER: z
    .string()
    // Plain http would show codes and secrets to the network.
    .refine(isProtectedAddress, 'must be an https URL, or http on this machine')
    .optional()
    .meta({ unit: 'URL', fallback: 'none' })
    .describe('The OpenID provider; the same as `SESSION_ISSUER`. Without it nobody can sign in here.'),
  OIDC_CLIENT_ID: optionalText({ unit: 'text', fallback: 'required with `OIDC_ISSUER`' }).describe(
    "The gateway's client at the provider; one of `SESSION_AUDIENCE`.",
  ),
  OIDC_CLIENT_SECRET: optionalText({
    unit: 'text',
    fallback: 'required with `OIDC_ISSUER`',
    secret: true,
  }).describe('Secret of that client.'),
  OIDC_SCOPE: z
    .string()
    .default('openid')
    .refine((scope) => scope.split(' ').includes('openid'), 'must contain openid')
    .meta({ unit: 'scopes, separated by spaces' })
    .describe('Requested scopes.'),
  SIGN_IN_KEY: secretKey()
    .optional()
    .meta({ fallback: 'required with `OIDC_ISSUER`' })
    .describe('Encrypts sign-ins in progress; the same for all gateways.'),
} as const;

/** Every setting of the gateway, before those that depend on each other are compared. */
export const gatewaySettings = z.object({
  ...commonSettings,
  ...sessionSettings,
  ...sandboxSettings,
  PORT: port(8080).describe('The public port.'),
  ...publicTlsSettings,
  PROBE_PORT: probePort(7100),
  PUBLIC_URL: publicUrl('http://localhost:8080')
    .meta({ unit: 'URL without a path' })
    .describe("Public address; the same as authorization's `ISSUER`."),
  ...signIn,
  ...deployment,
  AUTHORIZATION_ADDRESS: address('127.0.0.1:7001').describe('gRPC port of authorization.'),
  CONSENT_ADDRESS: address('127.0.0.1:7002').describe('gRPC port of consent.'),
  HEALTH_DATA_ADDRESS: address('127.0.0.1:7003').describe('gRPC port of health-data.'),
  ...redisSettings,
  REDIS_COMMAND_TIMEOUT_MS: durationMs(250).describe(
    'Maximum wait for Redis; then the gateway goes on alone.',
  ),
  LIMITS: limitTable
    .meta({ unit: '`name=points`, separated by commas', fallback: 'none' })
    .describe(
      '[Limits](../partners/limits.md) unlike their defaults, such as `app-user=600,sign-ins=1000`. `user-all-apps` is at least `app-user` ' +
        '(by default three times it), `user-costly` at least 30.',
    ),
  TRUST_PROXY: integer(0, { max: 10, unit: 'proxies' }).describe('[Proxies in front](in-front.md).'),
  ...connectionSettings,
  RECEIPT_PUBLIC_KEYS: publicKeys
    .meta({ unit: 'JWKS of Ed25519 keys', fallback: 'none' })
    .describe('All keys of receipts ever used, for `/.well-known/jwks.json`.'),
  API_V1_DEPRECATION: httpDate
    .meta({ unit: 'date', fallback: 'none' })
    .describe('When version 1 becomes deprecated.'),
  API_V1_SUNSET: httpDate.meta({ unit: 'date', fallback: 'none' }).describe('When version 1 is removed.'),
});

/** What no operator has to set. Tests override it. */
export const CONSTANTS = {
  /** The built web app. */
  WEB_DIRECTORY: fileURLToPath(new URL('../../../packages/web/dist', import.meta.url)),
  /** The built documentation for partner developers. */
  DOCS_DIRECTORY: fileURLToPath(new URL('../../../packages/docs/dist', import.meta.url)),
  MAX_BODY_BYTES: 64 * 1024,
  /** Of a request target. */
  MAX_URL_BYTES: 8 * 1024,
  /** Of all fields of a request. */
  MAX_HEADER_BYTES: 16 * 1024,
  /** Time without a byte in either direction after which a connection with a request is closed. */
  STALLED_CONNECTION_MS: 30_000,
  /** Minimum average pace at which a client reads, after STALLED_CONNECTION_MS; slower ones are disconnected. */
  MIN_READ_BYTES_PER_SECOND: 4_096,
  /** Minimum time before a failed authentication is answered. */
  AUTH_FAILURE_FLOOR_MS: 25,
  /** Maximum lifetime of a cached access token; the minimum is half of it. */
  CACHE_TTL_MS: REVOCATION_PROPAGATION_SECONDS * 1_000 - 10_000,
  CACHE_MAX_TOKENS: 50_000,
  /** Interval at which counts of refused requests are sent to consent. */
  USAGE_INTERVAL_MS: 5_000,
  /** Interval at which the request log of the apps is moved to Redis. */
  REQUEST_LOG_INTERVAL_MS: 1_000,
};

/** Milliseconds for which the gateway waits for each. DEADLINE_FACTOR multiplies them. */
export const DEADLINES = {
  AUTHORIZATION_DEADLINE_MS: 2_000,
  CONSENT_DEADLINE_MS: 2_000,
  HEALTH_DATA_DEADLINE_MS: 3_000,
  /** Of the OpenID provider. */
  OIDC_DEADLINE_MS: 5_000,
};
