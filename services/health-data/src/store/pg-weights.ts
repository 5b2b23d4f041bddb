import { translatingErrors } from '@phds/service-kit/postgres/errors';
import { readStatement } from '@phds/service-kit/postgres/statement';
import type pg from 'pg';
import type { WeightQuery, WeightReader } from '../app/ports.ts';
import { coverDays } from '../domain/day-cover.ts';
import { coverSpans, type SpanRange } from '../domain/span-cover.ts';
import { lowerBound, TEXT_ROWS, toTimestamp, upperBound } from './database.ts';
import { ROLLUP_VERSION } from './rollup-version.ts';

const BY_ROLLUPS = readStatement(new URL('sql/weights-by-rollups.sql', import.meta.url));
const BY_READINGS = readStatement(new URL('sql/weights-by-readings.sql', import.meta.url));

type Row = readonly [
  id: string | null,
  value: string,
  day: string,
  total: string,
  usable: string,
  start: string,
];

/** Weight entries from the Weight readings. Their days come from rollups if usable, else from the readings. */
export function createPgWeights(pool: pg.Pool): WeightReader {
  const ask = async (statement: pg.QueryConfig) => {
    const result = await pool.query<Row[]>({ ...TEXT_ROWS, ...statement });
    return result.rows as unknown as Row[];
  };
  return translatingErrors({
    async list(query) {
      const found = await ask({ ...BY_ROLLUPS, values: toValuesByRollups(query) });
      const rows =
        found[0]?.[4] === 't' ? found : await ask({ ...BY_READINGS, values: toValuesByReadings(query) });
      const items = rows.flatMap(([id, value, date, , , start]) =>
        id === null ? [] : [{ id, weightKg: Number(value), timestamp: toTimestamp(start), date }],
      );
      return { items, total: Number(rows[0]?.[3] ?? 0) };
    },
  });
}

function toValuesByRollups(query: WeightQuery): unknown[] {
  const { userId, timeZone, limit, offset } = query;
  const spans = toSpans(query);
  return [
    userId,
    timeZone,
    ROLLUP_VERSION,
    spans.map(({ span }) => span),
    spans.map(({ from }) => lowerBound(from)),
    spans.map(({ to }) => upperBound(to)),
    limit,
    offset,
  ];
}

/** The whole days that are asked for; `since` is a midnight of the zone. */
function toSpans({ dates, since, timeZone }: WeightQuery): SpanRange[] {
  const { days } = coverDays({ from: since, to: null }, timeZone);
  const from =
    dates.from === null || (days?.from && days.from > dates.from) ? (days?.from ?? null) : dates.from;
  return coverSpans({ from, to: dates.to }, 'day');
}

function toValuesByReadings({ userId, timeZone, dates, since, limit, offset }: WeightQuery): unknown[] {
  const bounds = [lowerBound(since), lowerBound(dates.from), upperBound(dates.to)];
  return [userId, timeZone, ...bounds, limit, offset];
}
