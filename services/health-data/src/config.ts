import { address, flag, integer, publicKeys, readConfig, secretKey } from '@phds/service-kit/settings/config';
import {
  callerSettings,
  commonSettings,
  databaseSettings,
  refuseSandboxWithPeople,
  rpcSettings,
  sandboxSettings,
  sessionSettings,
  toDeadlines,
} from '@phds/service-kit/settings/settings';
import { z } from 'zod';

const settings = z.object({
  ...commonSettings,
  ...callerSettings('gateway'),
  ...databaseSettings,
  DATABASE_DISTRIBUTED: flag().describe(
    'Whether `DATABASE_URL` is a [Citus cluster](deploy.md#health-data-on-several-servers).',
  ),
  ...sessionSettings,
  ...sandboxSettings,
  ...rpcSettings({ rpc: 7003, probes: 7103 }),
  ASSERTION_PUBLIC_KEYS: publicKeys('authorization').describe(
    'Verify access assertions; `kid` `authorization`.',
  ),
  PUBLIC_ID_KEY: secretKey().describe('Derives ids and entity tags for apps; the same for all instances.'),
  CONSENT_ADDRESS: address('127.0.0.1:7002').describe('gRPC port of consent.'),
  READING_CHANGE_DAYS: integer(400, { min: 30, unit: 'days' }).describe(
    'Sync cursors work, and changes of readings are kept, so long.',
  ),
});

/** The settings of health-data. `KEY_FILE` names a file with the value of KEY. */
export const configSchema = settings.superRefine(refuseSandboxWithPeople);

/** Milliseconds for which health-data waits. DEADLINE_FACTOR multiplies them. */
const DEADLINES = {
  CONSENT_DEADLINE_MS: 1_000,
  /** Wait of an answer before its record is sent. */
  ACCESS_WAIT_MS: 1_500,
  /** Statement of a large summary. 1.25 times it is below the gateway's HEALTH_DATA_DEADLINE_MS, which leaves time for the wait and the record. */
  SUMMARY_SCAN_TIMEOUT_MS: 2_000,
};

/** What no operator has to set. Tests override it. */
const CONSTANTS = {
  /** Interval at which changed readings are reported to consent. */
  CHANGE_REPORT_INTERVAL_MS: 1_000,
};

export type Config = Readonly<z.infer<typeof configSchema> & typeof CONSTANTS & typeof DEADLINES>;

/** Reads the environment. Throws a ConfigError that names every invalid setting. */
export function readEnvironment(env: NodeJS.ProcessEnv): Config {
  const settings = readConfig(configSchema, env);
  return { ...CONSTANTS, ...toDeadlines(settings, DEADLINES), ...settings };
}
