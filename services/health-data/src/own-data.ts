import { METRICS, type Metric } from '@phds/catalog/metrics';
import { invalidRequest } from '@phds/service-kit/errors';
import { isKind } from './record-kinds.ts';
import type { DataParts } from './resources.ts';

const READINGS_A_PAGE = 2_000;
const RECORDS_A_PAGE = 500;

interface OwnPage {
  readonly items: readonly object[];
  /** The time before which the next page begins, in Unix milliseconds; null at the end. */
  readonly next: number | null;
}

type Parts = Pick<DataParts, 'readingSpans' | 'healthRecords' | 'profiles'>;

/**
 * A page of all that is held of one kind, newest first, from before a time on. Items of the same time are on one page, so nothing that
 * was held from beginning to end is missing or doubled. Throws INVALID_REQUEST for an unknown kind.
 */
export async function readOwn(
  parts: Parts,
  userId: string,
  kind: string,
  before: number | null,
): Promise<OwnPage> {
  const metric = METRICS.find(({ key }) => key === kind);
  if (metric !== undefined) return readOwnReadings(parts, userId, metric, before);
  if (isKind(kind)) return parts.healthRecords.listHeld(kind, { userId, before, limit: RECORDS_A_PAGE });
  if (kind !== 'profile') throw invalidRequest('kind', 'is not known');
  const profile = await parts.profiles.find(userId);
  const timeZone = await parts.profiles.findTimeZone(userId);
  return { items: profile === null ? [] : [{ ...profile, timeZone }], next: null };
}

async function readOwnReadings(
  { readingSpans }: Parts,
  userId: string,
  { key, name, unit }: Metric,
  before: number | null,
): Promise<OwnPage> {
  const found = await readingSpans.listNewest({
    userId,
    by: 'type',
    subjects: [{ key, avoidedSource: null }],
    starts: null,
    when: { startFrom: null, startBefore: before, endFrom: null, endBefore: null },
    limit: READINGS_A_PAGE,
  });
  const items = found
    .map(({ value, timestamp, endTimestamp, source }) => ({
      type: name,
      value,
      unit,
      timestamp,
      end: endTimestamp ?? timestamp,
      source,
    }))
    .sort((one, other) => compare(toSeen(other), toSeen(one)));
  const last = items.at(-1);
  const next = last === undefined || found.length < READINGS_A_PAGE ? null : Date.parse(last.timestamp);
  return { items, next };
}

/** Row ids must not order what leaves (README). */
function toSeen({
  timestamp,
  source,
  end,
  value,
}: Record<'timestamp' | 'source' | 'end', string> & { value: number | null }) {
  return `${timestamp} ${source} ${end} ${value}`;
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
