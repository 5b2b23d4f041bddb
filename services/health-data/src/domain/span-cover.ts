import type { Range } from './window.ts';

// From the finest. Hours here are those of UTC, and a date stands for its midnight UTC.
const SPANS = ['hour', 'day', 'month', 'year'] as const;

/** What readings are counted and rolled up by. */
export type Span = (typeof SPANS)[number];

/** Whole spans of one kind, one after another: `from` inclusive, `to` exclusive, null is without end. */
export interface SpanRange extends Range {
  readonly span: Span;
}

/** A range cut into whole spans and what is left at its ends; all of them together are the range, nothing is in two. */
export interface SpanCover {
  /** Less than an hour each. */
  readonly edges: readonly Range[];
  readonly spans: readonly SpanRange[];
}

/** Cuts a range of instants into whole hours, days, months and years of UTC, as few as there can be. */
export function coverHours({ from, to }: Range): SpanCover {
  const first = from === null ? null : ceil(from, 'hour');
  const end = to === null ? null : floor(to, 'hour');
  if (!isBefore(first, end, true)) return { edges: [{ from, to }], spans: [] };
  const edges = [
    { from, to: first },
    { from: end, to },
  ].filter((edge) => edge.from !== null && edge.to !== null && edge.from < edge.to);
  return { edges, spans: coverSpans({ from: first, to: end }, 'hour') };
}

/** Cuts a range whose ends begin a span of the finest kind into runs of as long spans as possible, oldest first. */
export function coverSpans({ from, to }: Range, finest: Span): SpanRange[] {
  if (!isBefore(from, to)) return [];
  const longer = SPANS[SPANS.indexOf(finest) + 1];
  if (longer === undefined) return [{ span: finest, from, to }];
  const first = from === null ? null : ceil(from, longer);
  const end = to === null ? null : floor(to, longer);
  if (!isBefore(first, end)) return [{ span: finest, from, to }];
  return [
    ...(first === null ? [] : toRun(finest, from, first)),
    ...coverSpans({ from: first, to: end }, longer),
    ...(end === null ? [] : toRun(finest, end, to)),
  ];
}

function toRun(span: Span, from: Date | null, to: Date | null): SpanRange[] {
  return from?.getTime() === to?.getTime() ? [] : [{ span, from, to }];
}

/** Whether there is something between a beginning and an end, each of which may be open. */
function isBefore(from: Date | null, to: Date | null, orEqual = false): boolean {
  return from === null || to === null || from < to || (orEqual && from.getTime() === to.getTime());
}

function floor(at: Date, span: Span): Date {
  const start = new Date(at);
  start.setUTCMinutes(0, 0, 0);
  if (span !== 'hour') start.setUTCHours(0);
  if (span === 'month' || span === 'year') start.setUTCDate(1);
  if (span === 'year') start.setUTCMonth(0);
  return start;
}

function ceil(at: Date, span: Span): Date {
  const start = floor(at, span);
  if (start.getTime() === at.getTime()) return start;
  if (span === 'hour') start.setUTCHours(start.getUTCHours() + 1);
  else if (span === 'day') start.setUTCDate(start.getUTCDate() + 1);
  else if (span === 'month') start.setUTCMonth(start.getUTCMonth() + 1);
  else start.setUTCFullYear(start.getUTCFullYear() + 1);
  return start;
}
