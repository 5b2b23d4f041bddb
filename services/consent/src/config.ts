import { PRUNE_INTERVAL_MS } from '@phds/service-kit/background';
import { FAILOVER_GRACE_MS, RESTORE_CHECK_INTERVAL_MS } from '@phds/service-kit/restore/guard';
import { durationMs, integer, privateKey, readConfig, secretKey } from '@phds/service-kit/settings/config';
import {
  callerSettings,
  commonSettings,
  databaseSettings,
  egressSettings,
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

const accessSettings = {
  ACCESS_POOL_SIZE: integer(8, { min: 4, max: 200, unit: 'connections' }).describe(
    'Further connections: four for recording accesses, the others for checks of tokens and sessions, and counts.',
  ),
  ACCESS_QUEUE_WAIT_MS: durationMs(900).describe(
    'Maximum wait of an access for its insert; refusals and inserted accesses wait as long as it takes.',
  ),
  ACCESS_CLOCK_TOLERANCE_MS: integer(30_000, { min: 10_000, max: 86_400_000, unit: 'ms' }).describe(
    'Maximum difference of the clocks of process and database; above it nothing is released.',
  ),
  CHECKPOINT_INTERVAL_MS: durationMs(60_000).describe('Interval of signed checkpoints.'),
  RECORD_RETENTION_DAYS: integer(730)
    .refine((value) => value === 0 || value >= 90, 'must be 0 or at least 90')
    .meta({ unit: 'days, at least 90; 0 is for ever' })
    .describe('Access records are kept at least so long: whole months are dropped.'),
} as const;

const webhookSettings = {
  HOST_WEBHOOKS: hostWebhooks().describe(
    '[Endpoints of the deployment](deploy.md#webhooks-of-the-deployment).',
  ),
  WEBHOOK_KEY: secretKey().describe('Derives the secrets of webhooks; the same for all instances.'),
  WEBHOOK_CONCURRENCY: integer(16, { max: 256, unit: 'events' }).describe(
    'Events delivered at once, and as many again to slow receivers; 0 sends none.',
  ),
  WEBHOOK_DATA_SPACING_MS: durationMs(300_000).describe(
    'Minimum time between two `data.updated` of a grant; below 10 s also the wait for further changes.',
  ),
  ...egressSettings,
} as const;

const settings = z.object({
  ...commonSettings,
  ...callerSettings('gateway', 'authorization', 'health-data'),
  ...sessionSettings,
  ...sandboxSettings,
  ...databaseSettings,
  REVOCATION_POOL_SIZE: integer(4, { min: 1, max: 200, unit: 'connections' }).describe(
    'Further connections, for revocations, status of apps, ends of sessions.',
  ),
  ...redisSettings,
  ...rpcSettings({ rpc: 7002, probes: 7102 }),
  RECEIPT_PRIVATE_KEY: privateKey().describe('Signs receipts and checkpoints.'),
  MAX_LIVE_PENDING_PER_APP: integer(50, { min: 1, unit: 'approvals' }).describe(
    'Maximum number of undecided approvals that an app opened with its secret, and of unclaimed ones without it.',
  ),
  ...accessSettings,
  ...webhookSettings,
});

/** The settings of consent. `KEY_FILE` names a file with the value of KEY. */
export const configSchema = settings
  .superRefine(requireRedisTls)
  .superRefine(refuseSandboxWithPeople)
  .superRefine(refuseLoopbackElsewhere);

/** What no operator has to set. Tests override it. */
export const CONSTANTS = {
  /** Interval at which recorded accesses are added to the daily counts. */
  COUNT_INTERVAL_MS: 2_000,
  /** Interval of the search for new events and expired grants; every fifth time also for retries. */
  WEBHOOK_INTERVAL_MS: 1_000,
  /** Interval between deletions of obsolete rows, and of the care for the months of access records. */
  PRUNE_INTERVAL_MS,
  /** Interval of checks whether the database was restored. */
  RESTORE_CHECK_INTERVAL_MS,
  /** Time in which all instances have to confirm a new database. */
  FAILOVER_GRACE_MS,
};

export type Config = Readonly<z.infer<typeof configSchema> & typeof CONSTANTS>;

/** Reads the environment. Throws a ConfigError that names every invalid setting. */
export function readEnvironment(env: NodeJS.ProcessEnv): Config {
  return { ...CONSTANTS, ...readConfig(configSchema, env) };
}
