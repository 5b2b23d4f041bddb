import { AUTHORIZATION_CODE_DEFAULT_SECONDS, AUTHORIZATION_CODE_MAX_SECONDS } from '@phds/catalog/lifetimes';
import {
  address,
  commonSettings,
  databaseSettings,
  durationMs,
  integer,
  readConfig,
  requireStepUpCriterion,
  rpcSettings,
  secretKey,
  sessionSettings,
} from '@phds/service-kit/config';
import { z } from 'zod';

const settings = z.object({
  ...commonSettings,
  ...databaseSettings,
  ...sessionSettings,
  ...rpcSettings({ rpc: 7001, probes: 7101 }),
  /** `host:port` of the consent service's rpc. */
  CONSENT_ADDRESS: address('127.0.0.1:7002'),
  /** Maximum wait for a response of consent, in milliseconds. */
  CONSENT_DEADLINE_MS: durationMs(1_500),
  /** Public base URL of the whole service, without a slash at the end: `iss` of every redirect (RFC 9207). */
  ISSUER: z.url().regex(/[^/]$/, 'must not end with a slash'),
  /** Key from which codes and successor tokens are derived: base64 of at least 32 random bytes. */
  DERIVATION_KEY: secretKey(),
  /** Signs access assertions (Ed25519, PKCS #8 PEM). */
  ASSERTION_PRIVATE_KEY: z.string(),
  /** Lifetime of an authorization code, in seconds. */
  AUTHORIZATION_CODE_SECONDS: integer(AUTHORIZATION_CODE_DEFAULT_SECONDS, {
    min: 1,
    max: AUTHORIZATION_CODE_MAX_SECONDS,
  }),
  /** Maximum number of apps of one developer. */
  MAX_APPS_PER_DEVELOPER: integer(200, { min: 1 }),
  /**
   * Interval in milliseconds at which the service checks whether its database was restored. Suspension after a restore does not
   * depend on it.
   */
  RESTORE_CHECK_INTERVAL_MS: durationMs(2_000),
  /** How long all instances have to confirm a new database before it is treated as restored. Milliseconds. */
  FAILOVER_GRACE_MS: durationMs(15_000),
  /** Interval between deletions of obsolete rows, in milliseconds. */
  PRUNE_INTERVAL_MS: durationMs(60 * 60 * 1000),
});

/** The settings of authorization. `KEY_FILE` names a file with the value of KEY. */
export const configSchema = settings.superRefine(requireStepUpCriterion);

export type Config = Readonly<z.infer<typeof configSchema>>;

/** Reads the environment. Throws an error that names every invalid setting. */
export function readEnvironment(env: NodeJS.ProcessEnv): Config {
  return readConfig(configSchema, env);
}
