import { readStatement } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import { lowerBound, TEXT_ROWS, toTimestamp, upperBound } from './database.ts';
import { type Answer, type Page, type Slice, toListAnswer } from './document.ts';
import { findOwnWindow, type Profiles, toSlice } from './profiles.ts';
import type { DataRequest } from './request.ts';
import { type Range, toDates } from './window.ts';

interface WeightQuery extends Slice {
  readonly userId: string;
  readonly timeZone: string;
  /** Filters by the local date, given as its midnight UTC. */
  readonly dates: Range;
  /** Readings that start earlier do not count. */
  readonly since: Date | null;
}

/** One weight for each local day, from the Weight readings. */
export interface WeightEntry {
  /** Id of the reading. */
  readonly id: string;
  readonly weightKg: number;
  /** Start of the reading: RFC 3339, UTC. */
  readonly timestamp: string;
  /** YYYY-MM-DD in the user's zone. */
  readonly date: string;
}

/** One weight for each local day, newest first. */
export async function readWeight(
  parts: { readonly weights: Weights; readonly profiles: Profiles },
  request: DataRequest,
): Promise<Answer> {
  const { ids, userId, parameters } = request;
  const page = await parts.weights.list({
    userId,
    ...(await findOwnWindow(parts.profiles, request)),
    dates: toDates(parameters.window),
    ...toSlice(parameters),
  });
  const publicIds = ids.toPublicIds('wgt', page.items);
  const items = page.items.map(({ weightKg, date }, index) => ({ id: publicIds[index], weightKg, date }));
  return toListAnswer(items, { ...parameters, total: page.total });
}

const LIST = readStatement(new URL('sql/weights.sql', import.meta.url));

type Row = readonly [id: string | null, value: string, start: string, day: string, total: string];

export type Weights = ReturnType<typeof createWeights>;

/** The latest Weight reading of each local date, newest first. */
export function createWeights(pool: pg.Pool) {
  return {
    async list({ userId, timeZone, dates, since, limit, offset }: WeightQuery): Promise<Page<WeightEntry>> {
      const bounds = [lowerBound(since), lowerBound(dates.from), upperBound(dates.to)];
      const values = [userId, timeZone, ...bounds, limit, offset];
      const result = await pool.query({ ...TEXT_ROWS, ...LIST, values });
      const rows = result.rows as unknown as Row[];
      const items = rows.flatMap(([id, value, start, date]) =>
        id === null ? [] : [{ id, weightKg: Number(value), timestamp: toTimestamp(start), date }],
      );
      return { items, total: Number(rows[0]?.[4] ?? 0) };
    },
  };
}
