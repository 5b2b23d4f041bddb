import type { WeightQuery } from '../app/ports.ts';
import { coverDays } from '../domain/day-cover.ts';
import { coverSpans } from '../domain/span-cover.ts';
import type { SummaryCover } from '../domain/summary-cover.ts';
import { lowerBound, upperBound } from './database.ts';
import type { Statement } from './reading-list-sql.ts';
import { tiesOf, toNewest } from './reading-order-sql.ts';
import { PARTS, toSummaryValues } from './summary-sql.ts';
import { toFoundDay } from './trend-sql.ts';

// Rows of both statements: id, value, day, total, and whether the rollups were usable.

// The days are those of the trend of weights; of each the newest reading. Its local date is judged again, because
// timezone() means the second of two midnights and the bounds are generous.
const BY_ROLLUPS = `
  WITH ${PARTS}, ${toFoundDay('days')},
  page_start AS (SELECT at AS newest, before FROM found_day UNION ALL SELECT 'infinity', 0 WHERE $22 = 0),
  page AS (
    SELECT start_on FROM page_start CROSS JOIN inner_days CROSS JOIN LATERAL (
      SELECT start_on FROM day_rollup
      WHERE user_id = $1 AND type = 'weight' AND span = 'day' AND start_on >= lower AND start_on < upper AND start_on <= newest
      ORDER BY start_on DESC LIMIT $21 OFFSET $22 - before
    ) AS day
  )
  SELECT entry.id, entry.value, page.start_on, total, usable
  FROM usable CROSS JOIN counted LEFT JOIN (page CROSS JOIN LATERAL (
    ${toNewest(
      `user_id = $1 AND type = 'weight' AND value IS NOT NULL AND timezone($2, start_at)::date = page.start_on
      AND start_at >= timezone($2, page.start_on::timestamp) - interval '2 hours'
      AND start_at < timezone($2, (page.start_on + 1)::timestamp) + interval '2 hours'`,
      { limit: '1' },
    )}
  ) AS entry) ON true
  ORDER BY page.start_on DESC`;

// The bounds of dates are midnights UTC; sessions are in UTC, so the cast to a date gives that very date.
const BY_READINGS = `
  WITH entry AS (
    SELECT DISTINCT ON (day) id, value, day
    FROM (
      SELECT *, timezone($2, start_at)::date AS day FROM reading
      WHERE user_id = $1 AND type = 'weight' AND value IS NOT NULL AND start_at >= $3::timestamptz
    ) AS weighed
    WHERE day >= $4::timestamptz::date AND day < $5::timestamptz::date
    ORDER BY day DESC, start_at DESC, ${tiesOf('weighed')}
  )
  SELECT page.id, page.value, page.day, counted.total, true
  FROM (SELECT count(*) FROM entry) AS counted(total)
  LEFT JOIN LATERAL (SELECT * FROM entry ORDER BY day DESC LIMIT $6 OFFSET $7) AS page ON true
  ORDER BY page.day DESC`;

/** The statement over rollups. Without usable ones its single row says so. */
export function toWeightsByRollups(query: WeightQuery): Statement {
  const values = [
    ...toSummaryValues({ ...query, metrics: ['weight'] }, toCover(query)),
    query.limit,
    query.offset,
  ];
  return { name: 'weights-by-rollups', text: BY_ROLLUPS, values };
}

export function toWeightsByReadings({
  userId,
  timeZone,
  dates,
  since,
  limit,
  offset,
}: WeightQuery): Statement {
  const bounds = [lowerBound(since), lowerBound(dates.from), upperBound(dates.to)];
  return {
    name: 'weights-by-readings',
    text: BY_READINGS,
    values: [userId, timeZone, ...bounds, limit, offset],
  };
}

/** Whole days: `since` is a midnight of the zone. */
function toCover({ dates, since, timeZone }: WeightQuery): SummaryCover {
  const { days } = coverDays({ from: since, to: null }, timeZone);
  const from =
    dates.from === null || (days?.from && days.from > dates.from) ? (days?.from ?? null) : dates.from;
  return {
    readings: [],
    hours: [],
    rollupZone: timeZone,
    spans: coverSpans({ from, to: dates.to }, 'day').map((run) => ({ ...run, by: 'start' })),
  };
}
