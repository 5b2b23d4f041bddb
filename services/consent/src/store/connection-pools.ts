import { join } from 'node:path';
import {
  DATABASE_CONNECT_TIMEOUT_MS,
  KEY_LOOK_UPS,
  openPostgres,
  type Postgres,
} from '@phds/service-kit/postgres/postgres';
import type { Logger } from '@phds/service-kit/telemetry/log';
import type pg from 'pg';

/** The schema of the restore tables, where the service can only insert. */
export const RESTORE_SCHEMA = 'consent_audit';

interface PoolOptions {
  readonly DATABASE_URL: string;
  readonly DEADLINE_FACTOR: number;
  readonly DATABASE_STATEMENT_TIMEOUT_MS: number;
  readonly DATABASE_POOL_SIZE: number;
  readonly ACCESS_POOL_SIZE: number;
  readonly REVOCATION_POOL_SIZE: number;
}

/** The connections of this process: pools by purpose, so that waiting work in one does not delay the others. */
export interface ConnectionPools extends AsyncDisposable {
  /**
   * Records and judges accesses, proves changes, and answers readiness. Each of these has one statement at a time, so none waits for a
   * connection. Its statements never wait for locks of decisions or revocations.
   */
  readonly access: pg.Pool;
  /** Checks liveness and sessions, as often as people and apps ask, and counts accesses. */
  readonly checks: pg.Pool;
  /** Withdrawals: narrows and revokes grants, revokes tokens and families, sets the status of apps, ends sessions. */
  readonly revocations: pg.Pool;
  /** Delivers events, and adds those of grants that ended or are about to: two connections. */
  readonly webhooks: pg.Pool;
  /** Everything else. */
  readonly ordinary: pg.Pool;
  /** Creates and drops months of access records: one connection with a statement timeout of a minute. */
  readonly months: pg.Pool;
  /** All pools, by name. */
  readonly byName: Readonly<Record<string, pg.Pool>>;
  /** Resolves if the pool that judges reaches a database with the migrations of this release, else rejects. */
  ping(): Promise<void>;
}

/** Records in the default partition are moved to that of their month in one statement. */
const MONTHS_TIMEOUT_MS = 60_000;
const WEBHOOK_CONNECTIONS = 2;
/**
 * Planned for the values of each call. So a condition `($1::text IS NULL OR …)` costs nothing while $1 is null, and the lists of a person
 * with one grant and of one with thousands have the plan that suits them. The price is small also for the reports that
 * come all the time: on two busy cores, planning add-data-changes.sql takes 0.7 ms for one change and 7 ms for 1,000,
 * which then run for two seconds; planning add-refusals.sql takes 0.2 ms for one count and 2 ms for 1,000, of 35 ms.
 */
const PLANNED_FOR_VALUES = { plan_cache_mode: 'force_custom_plan' } as const;
const MIGRATIONS = join(import.meta.dirname, '../../prisma/migrations');
/** Inserts, judgements, proofs of changes, and one for readiness and the restore guard's comparisons. */
const RECORD_CONNECTIONS = 4;

/** Does not connect yet: each pool opens connections on demand. */
export async function openConnectionPools(options: PoolOptions, log: Logger): Promise<ConnectionPools> {
  await using resources = new AsyncDisposableStack();
  const byName: Record<string, pg.Pool> = {};
  const open = (name: string, poolSize: number, settings = {}, statementTimeoutMs?: number): Postgres => {
    const postgres = resources.use(
      openPostgres({
        connectionString: options.DATABASE_URL,
        setting: 'DATABASE_URL',
        schema: 'consent',
        poolSize,
        connectTimeoutMs: DATABASE_CONNECT_TIMEOUT_MS * options.DEADLINE_FACTOR,
        statementTimeoutMs: statementTimeoutMs ?? options.DATABASE_STATEMENT_TIMEOUT_MS,
        applicationName: name === 'ordinary' ? 'phds-consent' : `phds-consent-${name}`,
        settings,
        migrations: MIGRATIONS,
        log,
      }),
    );
    byName[name] = postgres.pool;
    return postgres;
  };
  const { pool: access, ping } = open('access', RECORD_CONNECTIONS, KEY_LOOK_UPS);
  const pools = {
    access,
    checks: open('checks', Math.max(1, options.ACCESS_POOL_SIZE - RECORD_CONNECTIONS), KEY_LOOK_UPS).pool,
    revocations: open('revocations', options.REVOCATION_POOL_SIZE, PLANNED_FOR_VALUES).pool,
    webhooks: open('webhooks', WEBHOOK_CONNECTIONS, KEY_LOOK_UPS).pool,
    ordinary: open('ordinary', options.DATABASE_POOL_SIZE, PLANNED_FOR_VALUES).pool,
    months: open('months', 1, {}, MONTHS_TIMEOUT_MS).pool,
  };
  const opened = resources.move();
  return {
    ...pools,
    byName,
    ping: async () => void (await ping()),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
