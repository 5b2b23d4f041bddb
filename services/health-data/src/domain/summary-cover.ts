import { coverDays } from './day-cover.ts';
import { coverSpans, type SpanRange } from './span-cover.ts';
import { notBefore, type Range } from './window.ts';

/** Which instant of a reading decides where it counts. */
export type KeyedBy = 'start' | 'end';

/** What a summary is put together from; nothing is in two parts, and no local day is partly in readings, partly in rollups. */
export interface SummaryCover {
  /** Stretches to be summarised from the readings themselves. */
  readonly readings: readonly (Range & { readonly by: KeyedBy })[];
  /** Whole local days, months and years, of which rollups exist; dates stand for their midnights UTC. */
  readonly spans: readonly (SpanRange & { readonly by: KeyedBy })[];
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
  return { readings: ways.map((by) => ({ ...range, by })), spans: [] };
}

/** As much as possible from rollups of the zone; the spans of both ways begin and end together. */
export function coverByRollups(
  window: SummaryWindow,
  timeZone: string,
  ways: readonly KeyedBy[],
): SummaryCover {
  const { from, to } = notBefore(window.range, window.since);
  const { edges, days } = coverDays({ from, to }, timeZone);
  const byStart = { readings: edges, spans: days === null ? [] : coverSpans(days, 'day') };
  const settled = findSettled(window);
  if (settled === null || !ways.includes('end')) return merge(ways.map((by) => ({ by, ...byStart })));
  const until = to === null || settled < to ? settled : to;
  const later = coverDays({ from: until, to }, timeZone);
  const laterSpans = later.days === null ? [] : coverSpans(later.days, 'day');
  const firstDays = days === null ? [] : coverFirstDays(days, later.days);
  return merge(
    ways.map((by) =>
      by === 'end'
        ? { by, readings: [{ from, to: until }, ...later.edges], spans: laterSpans }
        : { by, readings: edges, spans: [...firstDays, ...laterSpans] },
    ),
  );
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

function merge(
  parts: readonly {
    readonly by: KeyedBy;
    readonly readings: readonly Range[];
    readonly spans: readonly SpanRange[];
  }[],
): SummaryCover {
  return {
    readings: parts.flatMap(({ by, readings }) => readings.map((range) => ({ ...range, by }))),
    spans: parts.flatMap(({ by, spans }) => spans.map((range) => ({ ...range, by }))),
  };
}
