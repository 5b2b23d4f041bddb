import {
  durationMs,
  flag,
  integer,
  privateKey,
  readConfig,
  secretKey,
} from '@phds/service-kit/settings/config';
import {
  callerSettings,
  commonSettings,
  databaseSettings,
  proxyUrl,
  redisSettings,
  refuseLoopbackElsewhere,
  refuseSandboxWithPeople,
  requireRedisTls,
  requireStepUpCriterion,
  rpcSettings,
  sandboxSettings,
  sessionSettings,
} from '@phds/service-kit/settings/settings';
import { z } from 'zod';
import { hostWebhooks } from './webhooks/host-webhooks.ts';

const days = (fallback: number, min: number) => integer(fallback, { min, unit: 'days' });

const accessSettings = {
  ACCESS_POOL_SIZE: integer(8, { min: 4, max: 200, unit: 'connections' }).describe(
    'Connections besides `DATABASE_POOL_SIZE`: four for recording and judging accesses, the others, at least one, for checking tokens and sessions and for counting.',
  ),
  ACCESS_QUEUE_LIMIT: integer(10_000, { min: 500, unit: 'accesses' }).describe(
    'Maximum number of accesses that wait while a batch is recorded; more are refused immediately.',
  ),
  ACCESS_QUEUE_WAIT_MS: durationMs(900).describe('Maximum wait of an access for its batch.'),
  ACCESS_CLOCK_TOLERANCE_MS: integer(30_000, { min: 10_000, max: 86_400_000, unit: 'ms' }).describe(
    'Maximum difference between the clocks of the process and of the database; beyond it nothing is recorded or released.',
  ),
  COUNT_INTERVAL_MS: durationMs(2_000).describe(
    'Interval at which recorded accesses are added to the daily counts; until then reads count them.',
  ),
  CHECKPOINT_INTERVAL_MS: durationMs(60_000).describe(
    'Interval at which the heads of the record chains are signed, by one instance for all.',
  ),
  RECORD_RETENTION_DAYS: integer(730)
    .refine((value) => value === 0 || value >= 90, 'must be 0 or at least 90')
    .meta({ unit: 'days, at least 90; 0 is for ever' })
    .describe('How long access records are kept at least, in whole months.'),
} as const;

const webhookSettings = {
  HOST_WEBHOOKS: hostWebhooks().describe(
    "The deployment's own endpoints, which receive what becomes of connections ([webhooks](deploy.md#webhooks-of-the-deployment)).",
  ),
  WEBHOOK_KEY: secretKey().describe(
    'Derives the secrets of [webhooks](deploy.md#webhooks); the same for all instances.',
  ),
  WEBHOOK_CONCURRENCY: integer(16, { max: 256, unit: 'events' }).describe(
    'Events that this instance delivers at once, and as many again to [slow receivers](../design/consent.md#webhooks); 0 for an instance that sends none.',
  ),
  WEBHOOK_INTERVAL_MS: durationMs(1_000).describe(
    'Interval at which the service looks for new events and expired grants; every fifth time also for retries.',
  ),
  WEBHOOK_DATA_DELAY_MS: durationMs(10_000).describe(
    'How long a `data.updated` waits for further changes before it is sent.',
  ),
  WEBHOOK_DATA_SPACING_MS: durationMs(300_000).describe(
    'The shortest time from one `data.updated` of a grant to the next.',
  ),
  WEBHOOK_PROXY: proxyUrl().describe(
    'HTTP proxy (`CONNECT`) to all receivers ([what it sees](deploy.md#through-a-proxy)).',
  ),
  WEBHOOK_ALLOW_LOOPBACK: flag().describe(
    'For the local stack: webhooks to loopback addresses, also without TLS. Refused at the start unless `HOST` and `SESSION_ISSUER` are of this machine.',
  ),
  PRUNE_WEBHOOK_EVENTS_AFTER_DAYS: days(30, 4).describe(
    'How long an event and the log of its delivery are kept. More than the days over which it is tried.',
  ),
  PRUNE_WEBHOOK_DATA_EVENTS_AFTER_DAYS: days(3, 1).describe('How long a delivered `data.updated` is kept.'),
} as const;

const settings = z.object({
  ...commonSettings,
  ...callerSettings('gateway', 'authorization', 'health-data'),
  ...sessionSettings,
  ...sandboxSettings,
  ...databaseSettings,
  REVOCATION_POOL_SIZE: integer(4, { min: 1, max: 200, unit: 'connections' }).describe(
    'Connections besides `DATABASE_POOL_SIZE`, for revocations, changes of app status and ends of sessions.',
  ),
  ...redisSettings('Redis for publishing evictions to gateways.'),
  ...rpcSettings({ rpc: 7002, probes: 7102 }),
  RECEIPT_PRIVATE_KEY: privateKey().describe(
    'Signs consent receipts and the checkpoints of the access records.',
  ),
  MAX_LIVE_PENDING_PER_APP: integer(50, { min: 1, unit: 'pending approvals' }).describe(
    'Undecided pending approvals that an app may open with its secret; further ones are refused. Also the number of unclaimed ones without its secret; above it, one of the network that has most is removed.',
  ),
  ...accessSettings,
  RESTORE_CHECK_INTERVAL_MS: durationMs(2_000).describe(
    'Interval of checks whether the database was restored. Suspension does not depend on it.',
  ),
  FAILOVER_GRACE_MS: durationMs(15_000).describe(
    'How long all instances have to confirm a new database before it is treated as restored.',
  ),
  PRUNE_INTERVAL_MS: durationMs(3_600_000).describe('Interval between deletions of obsolete rows.'),
  PRUNE_REVOCATIONS_AFTER_DAYS: days(7, 2).describe(
    'How long a revoked token or family is kept beyond its expiry.',
  ),
  PRUNE_PENDING_AFTER_DAYS: days(30, 1).describe(
    'How long a pending approval is kept, whatever its outcome.',
  ),
  PRUNE_REFUSALS_AFTER_DAYS: days(400, 31).describe(
    'How long counts of refused requests are kept; app usage does not show older ones.',
  ),
  PRUNE_SANDBOX_GRANTS_AFTER_DAYS: days(30, 2).describe(
    'How long an ended grant of a sandbox person, and its history, are kept.',
  ),
  PRUNE_DROPPED_CHAINS_AFTER_DAYS: days(400, 90).describe(
    'How long the end of a dropped chain of access records is kept when no batch continues it. Longer than a process may run without recording anything.',
  ),
  ...webhookSettings,
});

/** The settings of consent. `KEY_FILE` names a file with the value of KEY. */
export const configSchema = settings
  .superRefine(requireStepUpCriterion)
  .superRefine(requireRedisTls)
  .superRefine(refuseSandboxWithPeople)
  .superRefine(refuseLoopbackElsewhere('WEBHOOK_ALLOW_LOOPBACK'));

export type Config = Readonly<z.infer<typeof configSchema>>;

/** Reads the environment. Throws a ConfigError that names every invalid setting. */
export function readEnvironment(env: NodeJS.ProcessEnv): Config {
  return readConfig(configSchema, env);
}
