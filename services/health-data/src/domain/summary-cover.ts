import { coverDays, coverHoursOf } from './day-cover.ts';
import { coverSpans, type SpanRange } from './span-cover.ts';
import { SAME_HOURS_SINCE } from './time-zone.ts';
import { notBefore, type Range } from './window.ts';

/** The instant of a reading that determines its bucket. */
export type KeyedBy = 'start' | 'end';

/** The parts of a summary. They do not overlap, and no day in the spans is split between parts. */
export interface SummaryCover {
  /** Intervals summarised from the readings. */
  readonly readings: readonly (Range & { readonly by: KeyedBy })[];
  /** Whole local hours with rollups, where less than a day is left. */
  readonly hours: readonly (Range & { readonly by: KeyedBy })[];
  /** Whole local days, months and years with rollups; dates are represented by their midnights UTC. */
  readonly spans: readonly (SpanRange & { readonly by: KeyedBy })[];
  /** The required zone of the rollups; irrelevant without any. */
  readonly rollupZone: string;
}

export interface SummaryWindow {
  /** Filters by the instant that determines the bucket. */
  readonly range: Range;
  /** Readings that start earlier do not count; null for no limit. */
  readonly since: Date | null;
}

// No interval that is keyed by its end is longer (reading.ts).
const LONGEST_MS = 86_400_000;

/** Uses only the readings. */
export function coverByReadings(window: SummaryWindow, ways: readonly KeyedBy[]): SummaryCover {
  const range = notBefore(window.range, window.since);
  return { readings: ways.map((by) => ({ ...range, by })), hours: [], spans: [], rollupZone: '' };
}

/** Uses hourly rollups of another zone with the same hours. Nights depend on dates, which differ, so they use the readings. */
export function coverByHours(
  window: SummaryWindow,
  timeZone: string,
  rollupZone: string,
  ways: readonly KeyedBy[],
): SummaryCover {
  const byReadings = coverByReadings(window, ways);
  const range = notBefore(window.range, window.since);
  const known = notBefore(range, SAME_HOURS_SINCE);
  const { edges, hours } = coverHoursOf(known, timeZone);
  if (hours === null || !ways.includes('start')) return byReadings;
  const early = { from: range.from, to: known.from };
  return {
    readings: [
      ...byReadings.readings.filter(({ by }) => by === 'end'),
      ...[early, ...edges].map((edge) => ({ ...edge, by: 'start' as const })),
    ],
    hours: [{ ...hours, by: 'start' }],
    spans: [],
    rollupZone,
  };
}

/** Uses rollups of the zone as far as possible. The spans of both kinds start and end together. */
export function coverByRollups(
  window: SummaryWindow,
  timeZone: string,
  ways: readonly KeyedBy[],
): SummaryCover {
  const { from, to } = notBefore(window.range, window.since);
  const { edges, days } = coverDays({ from, to }, timeZone);
  const cut = edges.map((edge) => coverHoursOf(edge, timeZone));
  const byStart = {
    readings: cut.flatMap((cover) => cover.edges),
    hours: cut.flatMap(({ hours }) => hours ?? []),
    spans: days === null ? [] : coverSpans(days, 'day'),
  };
  if (!ways.includes('end')) return merge(timeZone, { start: byStart });
  // For nights, only whole dates can be used, not hours.
  const settled = findSettled(window);
  if (settled === null)
    return merge(timeZone, { start: byStart, end: { ...byStart, readings: edges, hours: [] } });
  const until = to === null || settled < to ? settled : to;
  const later = coverDays({ from: until, to }, timeZone);
  const spans = later.days === null ? [] : coverSpans(later.days, 'day');
  const firstDays = days === null ? [] : coverFirstDays(days, later.days);
  return merge(timeZone, {
    start: { ...byStart, spans: [...firstDays, ...spans] },
    end: { readings: [{ from, to: until }, ...later.edges], hours: [], spans },
  });
}

/** The part of the window in which every reading that ends there also starts at or after `since`; null for all of it. */
function findSettled({ range, since }: SummaryWindow): Date | null {
  if (since === null) return null;
  const settled = new Date(since.getTime() + LONGEST_MS);
  return range.from !== null && range.from >= settled ? null : settled;
}

/** The days before the later ones, one by one. */
function coverFirstDays(days: Range, later: Range | null): SpanRange[] {
  const to = later === null ? days.to : later.from;
  return days.from?.getTime() === to?.getTime() ? [] : [{ span: 'day', from: days.from, to }];
}

interface Parts {
  readonly readings: readonly Range[];
  readonly hours: readonly Range[];
  readonly spans: readonly SpanRange[];
}

function merge(rollupZone: string, parts: Partial<Record<KeyedBy, Parts>>): SummaryCover {
  const all = <Part extends Range>(select: (parts: Parts) => readonly Part[]) =>
    (Object.entries(parts) as [KeyedBy, Parts][]).flatMap(([by, one]) =>
      select(one).map((range) => ({ ...range, by })),
    );
  return {
    readings: all(({ readings }) => readings),
    hours: all(({ hours }) => hours),
    spans: all(({ spans }) => spans),
    rollupZone,
  };
}
