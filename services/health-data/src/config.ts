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

/** Every setting of the health-data service. `KEY_FILE` names a file with the value of KEY. */
export const configSchema = z.object({
  ...commonSettings,
  ...databaseSettings,
  ...sessionSettings,
  ...rpcSettings({ rpc: 7003, probes: 7103 }),
  /** Public keys that access assertions are verified with (JWKS). */
  ASSERTION_PUBLIC_KEYS: z.string(),
  /** Key that the ids and entity tags of each app are derived with: base64 of at least 32 random bytes. Another one changes them all. */
  PUBLIC_ID_KEY: secretKey(),
  /** `host:port` of the consent service's rpc. */
  CONSENT_ADDRESS: address('127.0.0.1:7002'),
  /** Longest wait for consent to record and judge one batch of accesses. */
  CONSENT_DEADLINE_MS: durationMs(1_000),
  /** Accesses recorded in one call, at most; consent takes 500. */
  ACCESS_BATCH_MAX: integer(500, { min: 1, max: 500 }),
  /** Answers that may wait for their record; more are refused at once. */
  ACCESS_QUEUE_MAX: integer(2_000, { min: 1 }),
  /** Longest wait of an answer before its record is sent. */
  ACCESS_WAIT_MS: durationMs(1_500),
  /**
   * Longest statement of a summary that is computed from all readings; it waits for its turn a quarter of that at most. The sum stays below
   * the gateway's HEALTH_DATA_DEADLINE_MS: a later answer reaches nobody.
   */
  SUMMARY_SCAN_TIMEOUT_MS: durationMs(2_000),
  /** How often users are looked for whose rollups have to be rebuilt; the first time at the start. */
  ROLLUP_CHECK_INTERVAL_MS: integer(3_600_000, { min: 1_000, max: 86_400_000 }),
});

/** The settings, read once. */
export type Config = Readonly<z.infer<typeof configSchema>>;

/** Reads the environment; throws ConfigError naming every setting that does not fit. */
export function readEnvironment(env: NodeJS.ProcessEnv): Config {
  return readConfig(configSchema, env);
}
