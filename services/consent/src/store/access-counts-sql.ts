import type { DayRange } from '../app/access-ports.ts';
import { Prisma } from './generated/client.ts';

const DEFAULT_DAYS_BACK = 29;

/** Selects records that are not yet counted in access_day: only a few, all of them new. */
const UNCOUNTED = Prisma.sql`r.id >= (SELECT first_id_of(min(at)) FROM access_uncounted)
  AND EXISTS (SELECT FROM access_uncounted u WHERE u.writer = r.writer AND u.seq = r.seq)`;

/** The first day with records. Counts of dropped months may exist a little longer than their records. */
const FIRST_KEPT = Prisma.sql`(SELECT (coalesce(max(kept_from), '-infinity') AT TIME ZONE 'UTC')::date
  FROM consent_audit.access_dropped)`;

/**
 * Counts of accesses by day, exact at the time of the statement: counted and uncounted records. `where` may use the columns that
 * both have: user_ref, client_id, grant_id, scope, endpoint.
 */
export function accessCounts(where: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`(SELECT * FROM (
    SELECT client_id, grant_id, scope, endpoint, day, recorded, refused, last_at FROM access_day r WHERE ${where}
    UNION ALL
    SELECT client_id, grant_id, scope, endpoint, day_of_id(coalesce(refers_to, id)),
      CASE WHEN refers_to IS NULL THEN 1 ELSE 0 END, CASE WHEN refers_to IS NULL THEN 0 ELSE 1 END,
      CASE WHEN refers_to IS NULL THEN at END
    FROM access_record r WHERE ${where} AND ${UNCOUNTED}) r WHERE day >= ${FIRST_KEPT})`;
}

/** The reference of a person; NULL for one who never gave a consent. */
export function refOf(userId: string): Prisma.Sql {
  return Prisma.sql`(SELECT user_ref FROM person WHERE user_id = ${userId})`;
}

/** Limits the counts with the alias `c` to days; null for the last 30. */
export function within(range: DayRange | null): Prisma.Sql {
  if (range !== null) return Prisma.sql`c.day BETWEEN ${range.from}::date AND ${range.to}::date`;
  return Prisma.sql`c.day BETWEEN (statement_timestamp() AT TIME ZONE 'UTC')::date - ${DEFAULT_DAYS_BACK}::int
    AND (statement_timestamp() AT TIME ZONE 'UTC')::date`;
}
