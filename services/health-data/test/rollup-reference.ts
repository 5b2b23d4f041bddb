import { localDate } from '@phds/catalog/local-time';
import { getMetric, type MetricKey } from '@phds/catalog/metrics';

/** A row of `reading`; instants in milliseconds. */
export interface ReadingRow {
  readonly type: MetricKey;
  readonly start: number;
  readonly end: number;
  readonly value: number | null;
  readonly source: string;
}

interface Numbers {
  readonly count: number;
  readonly sum: number;
  readonly min: number;
  readonly max: number;
  readonly below: number;
  readonly above: number;
}

type Valued = ReadingRow & { readonly value: number };

/** The rows of every derived table, one text each, computed step by step: one reading, one hour, one day after another. */
export function computeKept(readings: readonly ReadingRow[], zone: string): string[] {
  const hours = computeHours(readings, zone);
  const days = group(hours, ({ type, hour }) => [type, localDate(new Date(hour), zone)]).map(
    ({ key, rows }) => {
      const numbers = judgeDay(key[0], merge(rows));
      return { type: key[0], day: key[1], ...numbers, hours: rows.length, days: 1 };
    },
  );
  const spans = days.flatMap((day) =>
    [`month ${day.day.slice(0, 7)}-01`, `year ${day.day.slice(0, 4)}-01-01`, 'all -infinity'].map((span) => ({
      ...day,
      span,
    })),
  );
  const longer = group(spans, ({ type, span }) => [type, span]).map(({ key: [type, span], rows }) => {
    const additive = getMetric(type).kind === 'additive';
    const numbers = merge(
      additive ? rows.map((day) => ({ ...day, count: 1, min: day.sum, max: day.sum })) : rows,
    );
    return { type, span, ...numbers, hours: add(rows.map((day) => day.hours)), days: rows.length };
  });
  return [
    ...computeCounts(readings),
    ...hours.map((row) => `hour_rollup ${row.type} ${new Date(row.hour).toISOString()} ${toText(row)}`),
    ...days.map((row) => `day_rollup ${row.type} day ${row.day} ${toText(row)} ${row.hours} ${row.days}`),
    ...longer.map((row) => `day_rollup ${row.type} ${row.span} ${toText(row)} ${row.hours} ${row.days}`),
  ].sort();
}

function computeCounts(readings: readonly ReadingRow[]): string[] {
  const covered = readings.flatMap(({ type, start }) => {
    const at = new Date(start).toISOString();
    return [
      `${type} hour ${at.slice(0, 13)}:00`,
      `${type} day ${at.slice(0, 10)}T00:00`,
      `${type} month ${at.slice(0, 7)}-01T00:00`,
      `${type} year ${at.slice(0, 4)}-01-01T00:00`,
      `${type} all -infinity`,
    ];
  });
  return [...Map.groupBy(covered, (text) => text)].map(
    ([text, rows]) => `reading_count ${text} ${rows.length}`,
  );
}

function computeHours(readings: readonly ReadingRow[], zone: string) {
  const placed = readings
    .filter((reading): reading is Valued => reading.value !== null)
    .map((reading) => ({ ...reading, hour: hourOf(reading, zone) }));
  const slots = group(placed, ({ type, hour }) => {
    return [type, getMetric(type).bucketBy === 'end' ? localDate(new Date(hour), zone) : String(hour)];
  });
  return slots.flatMap(({ key: [type], rows }) => {
    const counting = getMetric(type).kind === 'average' ? rows : rows.filter(isOf(largestSource(rows)));
    return group(counting, ({ hour }) => [type, String(hour)]).map(({ key, rows: members }) => {
      return { type, hour: Number(key[1]), ...merge(members.map(toNumbers)) };
    });
  });
}

function hourOf({ type, start, end }: ReadingRow, zone: string): number {
  const keyed = getMetric(type).bucketBy === 'end' ? end : start;
  const clock = new Intl.DateTimeFormat('en', { timeZone: zone, minute: 'numeric' }).format(keyed);
  return keyed - (keyed % 60_000) - Number(clock) * 60_000;
}

function largestSource(rows: readonly Valued[]): string {
  const sums = group(rows, ({ source }) => [source, '']).map(({ key, rows: own }) => {
    return { source: key[0] as string, sum: add(own.map(({ value }) => value)) };
  });
  sums.sort((a, b) => b.sum - a.sum || (a.source < b.source ? -1 : 1));
  return sums[0]?.source ?? '';
}

function isOf(source: string) {
  return (row: ReadingRow) => row.source === source;
}

function toNumbers({ type, value }: Valued): Numbers {
  const { kind, referenceRange } = getMetric(type);
  const range = kind === 'average' ? referenceRange : null;
  return { count: 1, sum: value, min: value, max: value, ...judge(value, range) };
}

function judgeDay(type: MetricKey, numbers: Numbers): Numbers {
  const { kind, referenceRange } = getMetric(type);
  return kind === 'average' ? numbers : { ...numbers, ...judge(numbers.sum, referenceRange) };
}

function judge(value: number, range: { low: number; high: number } | null) {
  return {
    below: range !== null && value < range.low ? 1 : 0,
    above: range !== null && value > range.high ? 1 : 0,
  };
}

function merge(rows: readonly Numbers[]): Numbers {
  return {
    count: add(rows.map((row) => row.count)),
    sum: add(rows.map((row) => row.sum)),
    min: Math.min(...rows.map((row) => row.min)),
    max: Math.max(...rows.map((row) => row.max)),
    below: add(rows.map((row) => row.below)),
    above: add(rows.map((row) => row.above)),
  };
}

/** Exact for values with at most three decimals. */
function add(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + Math.round(number * 1000), 0) / 1000;
}

function toText({ count, sum, min, max, below, above }: Numbers): string {
  return [count, sum, min, max, below, above].join(' ');
}

function group<Row extends { readonly type: MetricKey }, Key>(
  rows: readonly Row[],
  toKey: (row: Row) => readonly [Key, string],
): { key: readonly [Key, string]; rows: Row[] }[] {
  const groups = Map.groupBy(rows, (row) => toKey(row).join(' '));
  return [...groups.values()].map((members) => ({ key: toKey(members[0] as Row), rows: members }));
}
