import type { Range } from './window.ts';

// Ordered from the finest. Hours here are UTC hours, and a date is represented by its midnight UTC.
const SPANS = ['hour', 'day', 'month', 'year'] as const;

/** The spans by which readings are counted and rolled up. */
export type Span = (typeof SPANS)[number];

/** Consecutive whole spans of one kind: `from` inclusive, `to` exclusive, null for no bound. */
export interface SpanRange extends Range {
  readonly span: Span;
}

/** A range split into whole spans and the rest at its ends. Together they are the range, without overlap. */
export interface SpanCover {
  /** Less than an hour each. */
  readonly edges: readonly Range[];
  readonly spans: readonly SpanRange[];
}

/** Splits a range of instants into as few whole UTC hours, days, months and years as possible. */
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

/** Splits a range whose ends are starts of the finest kind into runs of the longest possible spans, oldest first. */
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

/** Whether the range between a start and an end, which may both be open, is not empty. */
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
