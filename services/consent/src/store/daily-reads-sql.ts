import sql, { type Sql } from 'sql-template-tag';

/** Released answers of the grant `g` by UTC day, from and to these days. Includes what has been counted, seconds after it was recorded. */
export function dailyReads(from: Sql, to: Sql): Sql {
  return sql`(
    SELECT c.day, sum(c.recorded - c.refused)::double precision AS reads
    FROM access_day c
    WHERE c.user_ref = g.user_ref AND c.grant_id = g.id AND c.day BETWEEN ${from} AND ${to}
    GROUP BY c.day)`;
}
