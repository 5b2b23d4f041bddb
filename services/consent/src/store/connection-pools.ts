import type { Logger } from '@phds/service-kit/log';
import { openPostgres, type Postgres } from '@phds/service-kit/postgres';
import { PrismaClient } from './generated/client.ts';
import { ACCESS_POOL_SETTINGS } from './pg-access-records.ts';

export interface PoolOptions {
  readonly DATABASE_URL: string;
  readonly DATABASE_STATEMENT_TIMEOUT_MS: number;
  readonly DATABASE_POOL_SIZE: number;
  readonly ACCESS_POOL_SIZE: number;
  readonly REVOCATION_POOL_SIZE: number;
}

/** The connections of this process: four pools, so that what waits in one of them holds up nothing in another. */
export interface ConnectionPools extends AsyncDisposable {
  /** Records accesses and checks liveness. Nothing on it waits for a lock that a decision or a revocation holds. */
  readonly access: Postgres;
  /** Takes back: narrows and revokes grants, revokes tokens and families, sets the status of apps. */
  readonly revocations: PrismaClient;
  /** Makes and drops months of records: one connection, on which a statement may take a minute. */
  readonly months: PrismaClient;
  /** Does everything else. */
  readonly ordinary: PrismaClient;
}

/** Records that are in the default partition move to that of their month in one statement. */
const MONTHS_TIMEOUT_MS = 60_000;

/** Connects to nothing yet: each pool opens a connection when it needs one. */
export async function openConnectionPools(options: PoolOptions, log: Logger): Promise<ConnectionPools> {
  await using resources = new AsyncDisposableStack();
  const open = (name: string, poolSize: number, settings = {}, statementTimeoutMs?: number) =>
    resources.use(
      openPostgres({
        connectionString: options.DATABASE_URL,
        schema: 'consent',
        poolSize,
        statementTimeoutMs: statementTimeoutMs ?? options.DATABASE_STATEMENT_TIMEOUT_MS,
        applicationName: name,
        settings,
        log,
      }),
    );
  const openPrisma = (name: string, poolSize: number, statementTimeoutMs?: number) => {
    const { adapter } = open(name, poolSize, {}, statementTimeoutMs);
    return resources.adopt(new PrismaClient({ adapter }), (client) => client.$disconnect());
  };
  const pools = {
    access: open('phds-consent-access', options.ACCESS_POOL_SIZE, ACCESS_POOL_SETTINGS),
    revocations: openPrisma('phds-consent-revocations', options.REVOCATION_POOL_SIZE),
    months: openPrisma('phds-consent-months', 1, MONTHS_TIMEOUT_MS),
    ordinary: openPrisma('phds-consent', options.DATABASE_POOL_SIZE),
  };
  const opened = resources.move();
  return { ...pools, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}
