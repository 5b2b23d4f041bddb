import type { Metrics } from './metrics.ts';

/** A pool of `pg`. */
export interface MeasuredPool {
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
  readonly options: { readonly max?: number };
}

/** Exports the use of a service's connection pools, by the name of each. */
export function measurePools(metrics: Metrics, pools: Readonly<Record<string, MeasuredPool>>): void {
  const all = Object.entries(pools);
  metrics.readGauges(
    {
      name: 'phds_db_pool_connections',
      help: 'Open connections to the database.',
      labels: ['pool', 'state'],
    },
    () =>
      all.flatMap(([pool, { totalCount, idleCount }]) => [
        [{ pool, state: 'used' }, totalCount - idleCount],
        [{ pool, state: 'idle' }, idleCount],
      ]),
  );
  metrics.readGauges(
    {
      name: 'phds_db_pool_waiting',
      help: 'Callers that wait for a connection of the pool.',
      labels: ['pool'],
    },
    () => all.map(([pool, { waitingCount }]) => [{ pool }, waitingCount]),
  );
  metrics.readGauges(
    { name: 'phds_db_pool_size', help: 'Maximum number of connections of the pool.', labels: ['pool'] },
    () => all.map(([pool, { options }]) => [{ pool }, options.max ?? 0]),
  );
}

/** Exports whether there is a connection to Redis. Only for a service that has one configured. */
export function measureRedis(metrics: Metrics, redis: { isReady(): boolean }): void {
  metrics.readGauge({ name: 'phds_redis_up', help: 'Whether there is a connection to Redis: 1 or 0.' }, () =>
    redis.isReady() ? 1 : 0,
  );
}

/** Exports whether an unconfirmed restore of the database suspends older grants or apps. */
export function measureRestores(metrics: Metrics, guard: { readonly isSuspending: boolean }): void {
  metrics.readGauge(
    {
      name: 'phds_restore_suspended',
      help: 'Whether a restore of the database, not yet confirmed, suspends everything older: 1 or 0.',
    },
    () => (guard.isSuspending ? 1 : 0),
  );
}
