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
  rpcSettings,
  sandboxSettings,
  sessionSettings,
} from '@phds/service-kit/settings/settings';
import { z } from 'zod';
import { hostWebhooks } from './webhooks/host-webhooks.ts';

const days = (fallback: number, min: number) => integer(fallback, { min, unit: 'days' });

const accessSettings = {
  ACCESS_POOL_SIZE: integer(8, { min: 4, max: 200, unit: 'connections' }).describe(
    'Further connections: four for recording accesses, the others for checks of tokens and sessions and for counts.',
  ),
  ACCESS_QUEUE_LIMIT: integer(10_000, { min: 500, unit: 'accesses' }).describe(
    'Maximum number of accesses that wait for their insert; more are refused.',
  ),
  ACCESS_QUEUE_WAIT_MS: durationMs(900).describe(
    'Maximum wait of an access for its insert; refusals, and accesses that are inserted, wait as long as it takes.',
  ),
  ACCESS_CLOCK_TOLERANCE_MS: integer(30_000, { min: 10_000, max: 86_400_000, unit: 'ms' }).describe(
    'Maximum difference between the clocks of process and database; beyond it nothing is released.',
  ),
  COUNT_INTERVAL_MS: durationMs(2_000).describe(
    'Interval at which recorded accesses are added to the daily counts.',
  ),
  CHECKPOINT_INTERVAL_MS: durationMs(60_000).describe(
    'Interval of signed checkpoints of the access records.',
  ),
  RECORD_RETENTION_DAYS: integer(730)
    .refine((value) => value === 0 || value >= 90, 'must be 0 or at least 90')
    .meta({ unit: 'days, at least 90; 0 is for ever' })
    .describe('Minimum time for which access records are kept, in whole months.'),
} as const;

const webhookSettings = {
  HOST_WEBHOOKS: hostWebhooks().describe(
    '[Endpoints of the deployment](deploy.md#webhooks-of-the-deployment) that are told about connections.',
  ),
  WEBHOOK_KEY: secretKey().describe('Derives the secrets of webhooks; the same for all instances.'),
  WEBHOOK_CONCURRENCY: integer(16, { max: 256, unit: 'events' }).describe(
    'Events that this instance delivers at once, and as many again to slow receivers; 0 sends none.',
  ),
  WEBHOOK_INTERVAL_MS: durationMs(1_000).describe(
    'Interval of the search for new events and expired grants; every fifth time also for retries.',
  ),
  WEBHOOK_DATA_DELAY_MS: durationMs(10_000).describe(
    'Time for which a `data.updated` waits for further changes.',
  ),
  WEBHOOK_DATA_SPACING_MS: durationMs(300_000).describe(
    'Minimum time from one `data.updated` of a grant to the next.',
  ),
  WEBHOOK_PROXY: proxyUrl().describe('[HTTP proxy](deploy.md#through-a-proxy) to all receivers.'),
  WEBHOOK_ALLOW_LOOPBACK: flag().describe(
    'Allows webhooks to loopback addresses, also without TLS; only with a `HOST` and `SESSION_ISSUER` of this machine.',
  ),
  PRUNE_WEBHOOK_EVENTS_AFTER_DAYS: days(30, 4).describe(
    'Time for which an event and the log of its delivery are kept.',
  ),
  PRUNE_WEBHOOK_DATA_EVENTS_AFTER_DAYS: days(3, 1).describe(
    'Time for which a delivered `data.updated` is kept.',
  ),
} as const;

const settings = z.object({
  ...commonSettings,
  ...callerSettings('gateway', 'authorization', 'health-data'),
  ...sessionSettings,
  ...sandboxSettings,
  ...databaseSettings,
  REVOCATION_POOL_SIZE: integer(4, { min: 1, max: 200, unit: 'connections' }).describe(
    'Further connections, for revocations, changes of app status and ends of sessions.',
  ),
  ...redisSettings,
  ...rpcSettings({ rpc: 7002, probes: 7102 }),
  RECEIPT_PRIVATE_KEY: privateKey().describe('Signs consent receipts and checkpoints of the access records.'),
  MAX_LIVE_PENDING_PER_APP: integer(50, { min: 1, unit: 'pending approvals' }).describe(
    'Maximum number of undecided pending approvals that an app opens with its secret, and of unclaimed ones without it.',
  ),
  ...accessSettings,
  RESTORE_CHECK_INTERVAL_MS: durationMs(2_000).describe(
    'Interval of checks whether the database was restored.',
  ),
  FAILOVER_GRACE_MS: durationMs(15_000).describe(
    'Time in which all instances have to confirm a new database; after it, the database counts as restored.',
  ),
  PRUNE_INTERVAL_MS: durationMs(3_600_000).describe('Interval between deletions of obsolete rows.'),
  PRUNE_REVOCATIONS_AFTER_DAYS: days(7, 2).describe(
    'Time for which a revoked token or family is kept beyond its expiry.',
  ),
  PRUNE_PENDING_AFTER_DAYS: days(30, 1).describe('Time for which a pending approval is kept.'),
  PRUNE_REFUSALS_AFTER_DAYS: days(400, 31).describe('Time for which counts of refused requests are kept.'),
  ...webhookSettings,
});

/** The settings of consent. `KEY_FILE` names a file with the value of KEY. */
export const configSchema = settings
  .superRefine(requireRedisTls)
  .superRefine(refuseSandboxWithPeople)
  .superRefine(refuseLoopbackElsewhere('WEBHOOK_ALLOW_LOOPBACK'));

export type Config = Readonly<z.infer<typeof configSchema>>;

/** Reads the environment. Throws a ConfigError that names every invalid setting. */
export function readEnvironment(env: NodeJS.ProcessEnv): Config {
  return readConfig(configSchema, env);
}
