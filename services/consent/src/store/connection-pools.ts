import { join } from 'node:path';
import { translateDatabaseError } from '@phds/service-kit/postgres/errors';
import { KEY_LOOK_UPS, openPostgres, type Postgres } from '@phds/service-kit/postgres/postgres';
import { ConfigError } from '@phds/service-kit/settings/config';
import type { Logger } from '@phds/service-kit/telemetry/log';
import type pg from 'pg';

export interface PoolOptions {
  readonly DATABASE_URL: string;
  readonly RECORDS_DATABASE_URL?: string | undefined;
  readonly DATABASE_CONNECT_TIMEOUT_MS: number;
  readonly DATABASE_STATEMENT_TIMEOUT_MS: number;
  readonly DATABASE_POOL_SIZE: number;
  readonly ACCESS_POOL_SIZE: number;
  readonly REVOCATION_POOL_SIZE: number;
}

/**
 * The pools of the access records: those of the ledger, unless RECORDS_DATABASE_URL names a database of their own. No
 * statement and no transaction names tables of both.
 */
export interface RecordPools {
  /** Records accesses, one batch at a time. */
  readonly access: pg.Pool;
  /** Counts accesses, and looks up counts by key. */
  readonly checks: pg.Pool;
  /** Creates and drops monthly partitions: one connection with a statement timeout of a minute. */
  readonly months: pg.Pool;
  /** Reads the history, the counts and the checkpoints. */
  readonly ordinary: pg.Pool;
  /** Whether they are of another database than the ledger. */
  readonly isElsewhere: boolean;
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
  /** Delivers events, and adds those of grants that expired: two connections. */
  readonly webhooks: pg.Pool;
  /** Everything else. */
  readonly ordinary: pg.Pool;
  readonly records: RecordPools;
  /** All pools, by name. */
  readonly byName: Readonly<Record<string, pg.Pool>>;
  /**
   * Resolves if the pool that judges reaches a database with the migrations of this release, else rejects. The same of the records, except
   * that they may be unreachable: then no data is released, but a replica that left service could not revoke either.
   */
  ping(): Promise<void>;
}

/** Records in the default partition are moved to that of their month in one statement. */
const MONTHS_TIMEOUT_MS = 60_000;
const WEBHOOK_CONNECTIONS = 2;
const MIGRATIONS = join(import.meta.dirname, '../../prisma/migrations');
/** Inserts, judgements, proofs of changes, and one for readiness and the restore guard's comparisons. */
const RECORD_CONNECTIONS = 4;

/** Inserts, and one for readiness and the comparison of what was written. */
const SEPARATE_RECORD_CONNECTIONS = 2;
const COUNT_CONNECTIONS = 2;

/** Does not connect yet: each pool opens connections on demand. */
export async function openConnectionPools(options: PoolOptions, log: Logger): Promise<ConnectionPools> {
  await using resources = new AsyncDisposableStack();
  const byName: Record<string, pg.Pool> = {};
  const openIn =
    (setting: 'DATABASE_URL' | 'RECORDS_DATABASE_URL', connectionString: string) =>
    (name: string, poolSize: number, settings = {}, statementTimeoutMs?: number): Postgres => {
      const postgres = resources.use(
        openPostgres({
          connectionString,
          setting,
          schema: 'consent',
          poolSize,
          connectTimeoutMs: options.DATABASE_CONNECT_TIMEOUT_MS,
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
  const open = openIn('DATABASE_URL', options.DATABASE_URL);
  const { pool: access, ping } = open('access', RECORD_CONNECTIONS, KEY_LOOK_UPS);
  const ledger = {
    access,
    checks: open('checks', Math.max(1, options.ACCESS_POOL_SIZE - RECORD_CONNECTIONS), KEY_LOOK_UPS).pool,
    revocations: open('revocations', options.REVOCATION_POOL_SIZE).pool,
    webhooks: open('webhooks', WEBHOOK_CONNECTIONS).pool,
    ordinary: open('ordinary', options.DATABASE_POOL_SIZE).pool,
  };
  const url = options.RECORDS_DATABASE_URL;
  const [records, pingRecords] =
    url === undefined
      ? [
          { ...ledger, months: open('months', 1, {}, MONTHS_TIMEOUT_MS).pool, isElsewhere: false },
          () => Promise.resolve(),
        ]
      : openRecords(openIn('RECORDS_DATABASE_URL', url), options.DATABASE_POOL_SIZE, access);
  const opened = resources.move();
  return {
    ...ledger,
    records,
    byName,
    ping: async () => void (await Promise.all([ping(), pingRecords()])),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

function openRecords(
  open: (name: string, poolSize: number, settings?: object, statementTimeoutMs?: number) => Postgres,
  poolSize: number,
  ledger: pg.Pool,
): [RecordPools, () => Promise<void>] {
  const { pool: access, ping } = open('records', SEPARATE_RECORD_CONNECTIONS, KEY_LOOK_UPS);
  const pools = {
    access,
    checks: open('records-counts', COUNT_CONNECTIONS, KEY_LOOK_UPS).pool,
    months: open('records-months', 1, {}, MONTHS_TIMEOUT_MS).pool,
    ordinary: open('records-ordinary', poolSize).pool,
    isElsewhere: true,
  };
  let hasMoved = false;
  const check = async () => {
    await ping();
    if (!hasMoved) await requireMoved(ledger, access);
    hasMoved = true;
  };
  return [pools, () => check().catch(throwUnlessUnreachable)];
}

const LAST_CHECKPOINT = 'SELECT coalesce(max(number), 0) AS number FROM consent_audit.access_checkpoint';

/** Each process signs a last checkpoint when it stops, so records that were left behind show in the numbers. */
async function requireMoved(from: pg.Pool, to: pg.Pool): Promise<void> {
  const [left, moved] = await Promise.all([from.query(LAST_CHECKPOINT), to.query(LAST_CHECKPOINT)]);
  if (left.rows[0].number <= moved.rows[0].number) return;
  const reason = 'lacks access records that the database of DATABASE_URL has: move them first';
  throw new ConfigError([{ setting: 'RECORDS_DATABASE_URL', reason }], { mayHeal: false });
}

function throwUnlessUnreachable(error: unknown): void {
  const isWrong = error instanceof ConfigError && !error.mayHeal;
  if (isWrong || translateDatabaseError(error).reason !== 'unavailable') throw error;
}
