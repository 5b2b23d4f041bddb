import {
  address,
  durationMs,
  flag,
  integer,
  publicKeys,
  readConfig,
  secretKey,
} from '@phds/service-kit/settings/config';
import {
  callerSettings,
  commonSettings,
  databaseSettings,
  refuseSandboxWithPeople,
  rpcSettings,
  sandboxSettings,
  sessionSettings,
} from '@phds/service-kit/settings/settings';
import { z } from 'zod';

const settings = z.object({
  ...commonSettings,
  ...callerSettings('gateway'),
  ...databaseSettings,
  DATABASE_DISTRIBUTED: flag().describe(
    'Whether `DATABASE_URL` is the coordinator of a [Citus cluster](deploy.md#health-data-on-several-servers).',
  ),
  ...sessionSettings,
  ...sandboxSettings,
  ...rpcSettings({ rpc: 7003, probes: 7103 }),
  ASSERTION_PUBLIC_KEYS: publicKeys('authorization').describe(
    'Public keys of access assertions, with the `kid` `authorization`.',
  ),
  PUBLIC_ID_KEY: secretKey().describe(
    'Derives the ids and entity tags that apps get; the same for all instances.',
  ),
  CONSENT_ADDRESS: address('127.0.0.1:7002').describe('gRPC port of consent.'),
  CONSENT_DEADLINE_MS: durationMs(1_000).describe('Maximum wait for an answer of consent.'),
  CHANGE_REPORT_INTERVAL_MS: durationMs(1_000).describe(
    'Interval at which changed readings are reported to consent.',
  ),
  READING_CHANGE_DAYS: integer(400, { min: 30, unit: 'days' }).describe(
    'Time for which a sync cursor works, and changes of readings are kept.',
  ),
  ACCESS_WAIT_MS: durationMs(1_500).describe('Maximum wait of an answer before its record is sent.'),
  SUMMARY_SCAN_TIMEOUT_MS: durationMs(2_000).describe(
    'Statement timeout of a summary of all readings; 1.25 times it must be below the 3 s (times `DEADLINE_FACTOR`) of the gateway.',
  ),
});

/** The settings of health-data. `KEY_FILE` names a file with the value of KEY. */
export const configSchema = settings.superRefine(refuseSandboxWithPeople);

export type Config = Readonly<z.infer<typeof configSchema>>;

/** Reads the environment. Throws a ConfigError that names every invalid setting. */
export function readEnvironment(env: NodeJS.ProcessEnv): Config {
  return readConfig(configSchema, env);
}
