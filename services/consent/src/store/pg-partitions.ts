import { translatingErrors } from '@phds/service-kit/postgres/errors';
import { select } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import type { CountsPlace, PartitionStore } from '../app/access-ports.ts';

/** Uses functions of the schema's owner, because the service itself cannot change tables. */
export function createPgPartitions(pool: pg.Pool): PartitionStore {
  return translatingErrors({
    async ensureNext(monthsAhead) {
      const [row] = await select<{ made: number }>(pool)`
        SELECT ensure_access_partitions(${monthsAhead}::int) AS made`;
      return row !== undefined && row.made > 0;
    },
    async dropNext(keepDays) {
      const [row] = await select<{ name: string }>(pool)`
        SELECT name FROM drop_access_partitions(${keepDays}::int) AS dropped(name)`;
      return row?.name ?? null;
    },
    async deleteCounts(place) {
      const { clientId, day } = place ?? { clientId: '', day: '-infinity' };
      const [next] = await select<CountsPlace>(pool)`
        SELECT app AS "clientId", of_day::text AS day FROM delete_dropped_counts(${clientId}, ${day}::date)
        WHERE app IS NOT NULL`;
      return next ?? null;
    },
  });
}
