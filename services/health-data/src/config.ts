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
  ...rpcSettings({ rpc: 7003, probes: 7103 }),
  /** Public keys that verify access assertions (JWKS). */
  ASSERTION_PUBLIC_KEYS: z.string(),
  /**
   * Key from which the ids and entity tags of each app are derived: base64 of at least 32 random bytes. Changing it changes all of
   * them.
   */
  PUBLIC_ID_KEY: secretKey(),
  /** `host:port` of the consent service's rpc. */
  CONSENT_ADDRESS: address('127.0.0.1:7002'),
  /** Maximum wait for consent to record and judge one batch of accesses. */
  CONSENT_DEADLINE_MS: durationMs(1_000),
  /** Interval at which changed readings are reported to consent, which announces them to apps. */
  CHANGE_REPORT_INTERVAL_MS: durationMs(1_000),
  /** Maximum number of accesses in one call; consent accepts 500. */
  ACCESS_BATCH_MAX: integer(500, { min: 1, max: 500 }),
  /** Maximum number of responses waiting for their record; more are refused immediately. */
  ACCESS_QUEUE_MAX: integer(2_000, { min: 1 }),
  /** Maximum wait of a response before its record is sent. */
  ACCESS_WAIT_MS: durationMs(1_500),
  /**
   * Statement timeout of a summary computed from all readings; it waits for its turn at most a quarter of that. The sum is below
   * the gateway's HEALTH_DATA_DEADLINE_MS, because a later response reaches nobody.
   */
  SUMMARY_SCAN_TIMEOUT_MS: durationMs(2_000),
  /** Interval of the search for users whose rollups have to be rebuilt; the first one is at start-up. */
  ROLLUP_CHECK_INTERVAL_MS: integer(3_600_000, { min: 1_000, max: 86_400_000 }),
  /** Interval of the search for sandbox people whose next reading is due; one arrives each minute. */
  SANDBOX_ARRIVAL_INTERVAL_MS: integer(10_000, { min: 10, max: 60_000 }),
});

/** The settings of health-data. `KEY_FILE` names a file with the value of KEY. */
export const configSchema = settings.superRefine(requireStepUpCriterion);

export type Config = Readonly<z.infer<typeof configSchema>>;

/** Reads the environment. Throws a ConfigError that names every invalid setting. */
export function readEnvironment(env: NodeJS.ProcessEnv): Config {
  return readConfig(configSchema, env);
}
