import { AUTHORIZATION_CODE_DEFAULT_SECONDS, AUTHORIZATION_CODE_MAX_SECONDS } from '@phds/catalog/lifetimes';
import { PRUNE_INTERVAL_MS } from '@phds/service-kit/background';
import { DATABASE_CONNECT_TIMEOUT_MS } from '@phds/service-kit/postgres/postgres';
import { FAILOVER_GRACE_MS, RESTORE_CHECK_INTERVAL_MS } from '@phds/service-kit/restore/guard';
import { address, integer, privateKey, readConfig, secretKey } from '@phds/service-kit/settings/config';
import {
  callerSettings,
  commonSettings,
  databaseSettings,
  egressSettings,
  refuseLoopbackElsewhere,
  rpcSettings,
  sessionSettings,
  toDeadlines,
} from '@phds/service-kit/settings/settings';
import { z } from 'zod';
import { PUBLIC_APPS } from './app.ts';

const settings = z.object({
  ...commonSettings,
  ...callerSettings('gateway'),
  ...databaseSettings,
  ...sessionSettings,
  ...rpcSettings({ rpc: 7001, probes: 7101 }),
  CONSENT_ADDRESS: address('127.0.0.1:7002').describe('gRPC port of consent.'),
  ISSUER: z
    .url()
    .regex(/[^/]$/, 'must not end with a slash')
    .meta({ unit: 'URL' })
    .describe("`iss` of redirects (RFC 9207): the gateway's `PUBLIC_URL`, without a slash at the end."),
  DERIVATION_KEY: secretKey().describe('Derives codes and the tokens of refreshes.'),
  ASSERTION_PRIVATE_KEY: privateKey().describe('Signs access assertions.'),
  AUTHORIZATION_CODE_SECONDS: integer(AUTHORIZATION_CODE_DEFAULT_SECONDS, {
    min: 1,
    max: AUTHORIZATION_CODE_MAX_SECONDS,
    unit: 's',
  }).describe('Lifetime of an authorization code.'),
  MAX_APPS_PER_DEVELOPER: integer(200, { min: 1, unit: 'apps' }).describe(
    'Maximum number of apps of one developer.',
  ),
  DEVELOPERS: z
    .string()
    .regex(/^(anyone|listed|[^=]+=.+)$/, 'must be anyone, listed or name=value')
    .default('listed')
    .meta({ unit: '`anyone`, `listed` or `name=value`' })
    .describe(
      'Who may register apps: everybody, the people of `phds developers`, or sessions whose claim `name` is or contains `value`.',
    ),
  APP_APPROVAL: z
    .enum(['required', 'none'], 'must be required or none')
    .default('required')
    .meta({ unit: '`required` or `none`' })
    .describe('Whether an operator approves each app before people see it.'),
  PUBLIC_APPS: z
    .enum(PUBLIC_APPS, `must be ${PUBLIC_APPS.join(', ')}`)
    .default('allowed')
    .meta({ unit: '`allowed`, `bound` or `refused`' })
    .describe('[Apps without a secret](../partners/public-apps.md); `bound`: only with DPoP proofs.'),
  ...egressSettings,
});

/** The settings of authorization. `KEY_FILE` names a file with the value of KEY. */
export const configSchema = settings.superRefine(refuseLoopbackElsewhere);

/** What no operator has to set. Tests override it. */
export const CONSTANTS = {
  /** Interval between deletions of obsolete rows. */
  PRUNE_INTERVAL_MS,
  /** Interval of checks whether the database was restored. */
  RESTORE_CHECK_INTERVAL_MS,
  /** Time in which all instances have to confirm a new database. */
  FAILOVER_GRACE_MS,
};

/** Milliseconds for which authorization waits. DEADLINE_FACTOR multiplies them. */
const DEADLINES = { CONSENT_DEADLINE_MS: 1_500, DATABASE_CONNECT_TIMEOUT_MS };

export type Config = Readonly<z.infer<typeof configSchema> & typeof CONSTANTS & typeof DEADLINES>;

/** Reads the environment. Throws an error that names every invalid setting. */
export function readEnvironment(env: NodeJS.ProcessEnv): Config {
  const settings = readConfig(configSchema, env);
  return { ...CONSTANTS, ...toDeadlines(settings, DEADLINES), ...settings };
}
