import {
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
  ...sessionSettings,
  /** `DATABASE_POOL_SIZE` applies to everything without its own pool below. */
  ...databaseSettings,
  /** Connections for recording accesses, and checking liveness and sessions. With the minimum, insert, judgement and count use one each. */
  ACCESS_POOL_SIZE: integer(8, { min: 4, max: 200 }),
  /** Connections for withdrawals: narrowing and revoking grants, revoking tokens and families, setting the status of apps, ending sessions. */
  REVOCATION_POOL_SIZE: integer(4, { min: 1, max: 200 }),
  /** Redis for publishing evictions to gateways; absent for none. */
  REDIS_URL: z.string().optional(),
  ...rpcSettings({ rpc: 7002, probes: 7102 }),
  /** Signs consent receipts and the checkpoints of the access records (Ed25519, PKCS #8 PEM). */
  RECEIPT_PRIVATE_KEY: z.string(),
  /**
   * Undecided, unexpired pending approvals that an app may open with its secret (contract section 1); further ones are refused.
   * Also the number of unclaimed ones without its secret; beyond it the oldest is removed.
   */
  MAX_LIVE_PENDING_PER_APP: integer(50, { min: 1 }),
  /** Interval at which obsolete rows are removed. */
  PRUNE_INTERVAL_MS: durationMs(3_600_000),
  /** Maximum number of accesses waiting for the current batch; more are refused immediately. */
  ACCESS_QUEUE_LIMIT: integer(10_000, { min: 500 }),
  /** Maximum wait of an access for its batch. */
  ACCESS_QUEUE_WAIT_MS: durationMs(900),
  /**
   * Maximum difference in milliseconds between the clocks of this process and the database; beyond it nothing is recorded or
   * released. At least 10 s, because a record may be dated up to 5 s ahead, and at most a day, because no record may be dated
   * wrongly by more.
   */
  ACCESS_CLOCK_TOLERANCE_MS: integer(30_000, { min: 10_000, max: 86_400_000 }),
  /** Interval at which recorded accesses are added to the daily counts; until then reads count them. */
  COUNT_INTERVAL_MS: durationMs(2_000),
  /** Interval at which the service checks whether its database was restored. Suspension after a restore does not depend on it. */
  RESTORE_CHECK_INTERVAL_MS: durationMs(2_000),
  /** How long all instances have to confirm a new database before it is treated as restored. */
  FAILOVER_GRACE_MS: durationMs(15_000),
  /** Interval at which the heads of the record chains are signed, by one instance for all. */
  CHECKPOINT_INTERVAL_MS: durationMs(60_000),
  /** Minimum number of days that access records are kept, in whole months: 0 for ever, otherwise at least 90. */
  RECORD_RETENTION_DAYS: integer(730).refine((days) => days === 0 || days >= 90, 'must be 0 or at least 90'),
  /** Days that a revoked token or family is kept beyond its expiry. */
  PRUNE_REVOCATIONS_AFTER_DAYS: integer(7, { min: 2 }),
  /** Days that a pending approval is kept, whatever its outcome. */
  PRUNE_PENDING_AFTER_DAYS: integer(30, { min: 1 }),
  /** Days that counts of refused requests are kept; app usage does not show older ones. */
  PRUNE_REFUSALS_AFTER_DAYS: integer(400, { min: 31 }),
  /** Interval at which all grants are searched for coming ends and unusual reading, by one instance for all. */
  NOTICE_SCAN_INTERVAL_MS: durationMs(900_000),
  /** Days that a notice is kept, read or not. More than the days between the notice of an end and the end, or it would be made again. */
  PRUNE_NOTICES_AFTER_DAYS: integer(90, { min: 14 }),
  /** Days that a report about an app is kept. */
  PRUNE_REPORTS_AFTER_DAYS: integer(730, { min: 31 }),
  /** Derives the secrets of webhooks; the same for all instances. */
  WEBHOOK_KEY: secretKey(),
  /** Events that this instance delivers at once; 0 for an instance that sends none. */
  WEBHOOK_CONCURRENCY: integer(16, { max: 256 }),
  /** Interval at which the service looks for events to deliver, and for grants that have expired. */
  WEBHOOK_INTERVAL_MS: durationMs(1_000),
  /** How long a `data.updated` waits for further changes before it is sent. */
  WEBHOOK_DATA_DELAY_MS: durationMs(10_000),
  /** The shortest time from one `data.updated` of a grant to the next. */
  WEBHOOK_DATA_SPACING_MS: durationMs(300_000),
  /** For the local stack: webhooks to loopback addresses, also without TLS. */
  WEBHOOK_ALLOW_LOOPBACK: z.enum(['true', 'false']).default('false'),
  /** Days that an event and the log of its delivery are kept. More than the days over which it is tried. */
  PRUNE_WEBHOOK_EVENTS_AFTER_DAYS: integer(30, { min: 4 }),
  /** Days that a delivered `data.updated` is kept. */
  PRUNE_WEBHOOK_DATA_EVENTS_AFTER_DAYS: integer(3, { min: 1 }),
});

/** The settings of consent. `KEY_FILE` names a file with the value of KEY. */
export const configSchema = settings.superRefine(requireStepUpCriterion);

export type Config = Readonly<z.infer<typeof configSchema>>;

/** Reads the environment. Throws a ConfigError that names every invalid setting. */
export function readEnvironment(env: NodeJS.ProcessEnv): Config {
  return readConfig(configSchema, env);
}
