import { coverDays, coverHoursOf } from './day-cover.ts';
import { coverSpans, type SpanRange } from './span-cover.ts';
import { SAME_HOURS_SINCE } from './time-zone.ts';
import { notBefore, type Range } from './window.ts';

/** Which instant of a reading decides where it counts. */
export type KeyedBy = 'start' | 'end';

/** What a summary is put together from; nothing is in two parts, and no part of a day that is in the spans in another. */
export interface SummaryCover {
  /** Stretches to be summarised from the readings themselves. */
  readonly readings: readonly (Range & { readonly by: KeyedBy })[];
  /** Whole local hours, of which rollups exist, where less than a day is left. */
  readonly hours: readonly (Range & { readonly by: KeyedBy })[];
  /** Whole local days, months and years, of which rollups exist; dates stand for their midnights UTC. */
  readonly spans: readonly (SpanRange & { readonly by: KeyedBy })[];
  /** The zone that the rollups have to be of; no matter without any. */
  readonly rollupZone: string;
}

export interface SummaryWindow {
  /** Judges the instant that decides where a reading counts. */
  readonly range: Range;
  /** No reading that starts earlier counts; null is everything. */
  readonly since: Date | null;
}

// No interval that counts by its end is longer (reading.ts).
const LONGEST_MS = 86_400_000;

/** Everything from the readings. */
export function coverByReadings(window: SummaryWindow, ways: readonly KeyedBy[]): SummaryCover {
  const range = notBefore(window.range, window.since);
  return { readings: ways.map((by) => ({ ...range, by })), hours: [], spans: [], rollupZone: '' };
}

/** Hours from rollups of another zone whose hours are the same; nights go by dates, which are not, and come from the readings. */
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

/** As much as possible from rollups of the zone; the spans of both ways begin and end together. */
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
  // Of nights a whole date goes together: there is no use in its hours.
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

/** The part of the window from when on an end says that the start, too, is not before `since`; null is all of it. */
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
