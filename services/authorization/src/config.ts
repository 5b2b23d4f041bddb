import { AUTHORIZATION_CODE_DEFAULT_SECONDS, AUTHORIZATION_CODE_MAX_SECONDS } from '@phds/catalog/lifetimes';
import {
  address,
  commonSettings,
  databaseSettings,
  durationMs,
  integer,
  readConfig,
  rpcSettings,
  secretKey,
  sessionSettings,
} from '@phds/service-kit/config';
import { z } from 'zod';

/** Every setting of the authorization service. `KEY_FILE` names a file with the value of KEY. */
export const configSchema = z.object({
  ...commonSettings,
  ...databaseSettings,
  ...sessionSettings,
  ...rpcSettings({ rpc: 7001, probes: 7101 }),
  /** `host:port` of the consent service's rpc. */
  CONSENT_ADDRESS: address('127.0.0.1:7002'),
  /** Longest wait for an answer of the consent service, in milliseconds. */
  CONSENT_DEADLINE_MS: durationMs(1_500),
  /** Public base URL of the whole service, without a slash at the end: `iss` of every redirect (RFC 9207). */
  ISSUER: z.url().regex(/[^/]$/, 'must not end with a slash'),
  /** Key that codes and successor tokens are derived with: base64 of at least 32 random bytes. */
  DERIVATION_KEY: secretKey(),
  /** Signs access assertions (Ed25519, PKCS #8 PEM). */
  ASSERTION_PRIVATE_KEY: z.string(),
  /** Life of an authorization code, in seconds. */
  AUTHORIZATION_CODE_SECONDS: integer(AUTHORIZATION_CODE_DEFAULT_SECONDS, {
    min: 1,
    max: AUTHORIZATION_CODE_MAX_SECONDS,
  }),
  /** How many apps a developer may have. */
  MAX_APPS_PER_DEVELOPER: integer(200, { min: 1 }),
  /** How often the service looks whether its database went back, in milliseconds; what a restore suspends does not wait for it. */
  RESTORE_CHECK_INTERVAL_MS: durationMs(2_000),
  /** How long all instances have to vouch for a database that took another's place, before it is taken for a restored one. */
  FAILOVER_GRACE_MS: durationMs(15_000),
  /** Pause between two deletions of rows that nobody can ask about any more, in milliseconds. */
  PRUNE_INTERVAL_MS: durationMs(60 * 60 * 1000),
});

/** The settings, read once. */
export type Config = Readonly<z.infer<typeof configSchema>>;

/** Reads the environment; throws with the name of every setting that does not fit. */
export function readEnvironment(env: NodeJS.ProcessEnv): Config {
  return readConfig(configSchema, env);
}
