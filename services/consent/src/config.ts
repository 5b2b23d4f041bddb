import {
  commonSettings,
  databaseSettings,
  durationMs,
  integer,
  readConfig,
  rpcSettings,
  sessionSettings,
} from '@phds/service-kit/config';
import { z } from 'zod';

/** Every setting of the consent service. `KEY_FILE` names a file with the value of KEY. */
export const configSchema = z.object({
  ...commonSettings,
  ...sessionSettings,
  /** `DATABASE_POOL_SIZE` counts for everything but what has a pool of its own below. */
  ...databaseSettings,
  /** Connections for recording accesses and checking liveness. Of the least number, insert, judgement and count take one each. */
  ACCESS_POOL_SIZE: integer(8, { min: 4, max: 200 }),
  /** Connections for taking back: what narrows and revokes grants, revokes tokens and families, and sets the status of apps. */
  REVOCATION_POOL_SIZE: integer(4, { min: 1, max: 200 }),
  /** Carries evictions to the gateways; absent means without. */
  REDIS_URL: z.string().optional(),
  ...rpcSettings({ rpc: 7002, probes: 7102 }),
  /** Signs consent receipts and the checkpoints of the access records (Ed25519, PKCS #8 PEM). */
  RECEIPT_PRIVATE_KEY: z.string(),
  /**
   * Undecided, unexpired pending approvals that an app may have with its secret (contract section 1); beyond them it is refused. As many
   * without its secret that nobody has claimed; beyond them the oldest gives way.
   */
  MAX_LIVE_PENDING_PER_APP: integer(50, { min: 1 }),
  /** How often rows that no longer matter are removed. */
  PRUNE_INTERVAL_MS: durationMs(3_600_000),
  /** Accesses that wait for the batch being recorded; more are refused at once. */
  ACCESS_QUEUE_LIMIT: integer(10_000, { min: 500 }),
  /** Longest that an access waits for its batch. */
  ACCESS_QUEUE_WAIT_MS: durationMs(900),
  /**
   * Milliseconds that the clocks of this process and of the database may differ; beyond it nothing is recorded or released. At least
   * 10 s, since a record may be dated up to 5 s ahead, and at most a day, which no record may be dated wrongly by.
   */
  ACCESS_CLOCK_TOLERANCE_MS: integer(30_000, { min: 10_000, max: 86_400_000 }),
  /** How often recorded accesses are added to the counts by day; until then whoever reads adds them up. */
  COUNT_INTERVAL_MS: durationMs(2_000),
  /** How often the service looks whether its database went back; what a restore suspends does not wait for it. */
  RESTORE_CHECK_INTERVAL_MS: durationMs(2_000),
  /** How long all instances have to vouch for a database that took another's place, before it is taken for a restored one. */
  FAILOVER_GRACE_MS: durationMs(15_000),
  /** How often the ends of the record chains are signed, by one instance for all. */
  CHECKPOINT_INTERVAL_MS: durationMs(60_000),
  /** Days that access records are kept at least, in whole months; 0 is for ever, and 90 the least otherwise. */
  RECORD_RETENTION_DAYS: integer(730).refine((days) => days === 0 || days >= 90, 'must be 0 or at least 90'),
  /** Days that a revoked token or family is remembered beyond its own expiry. */
  PRUNE_REVOCATIONS_AFTER_DAYS: integer(7, { min: 2 }),
  /** Days that a pending approval is kept, whatever became of it. */
  PRUNE_PENDING_AFTER_DAYS: integer(30, { min: 1 }),
  /** Days that counts of refused requests are kept; the usage of an app shows none of days before. */
  PRUNE_REFUSALS_AFTER_DAYS: integer(400, { min: 31 }),
});

/** The settings, read once. */
export type Config = Readonly<z.infer<typeof configSchema>>;

/** Reads the environment; throws ConfigError naming every setting that does not fit. */
export function readEnvironment(env: NodeJS.ProcessEnv): Config {
  return readConfig(configSchema, env);
}
