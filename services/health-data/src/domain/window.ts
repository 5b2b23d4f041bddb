import type { Violation } from '@phds/service-kit/errors';
import { findInstant, isDate, toDateText, withinCalendar } from './dates.ts';
import { startOfDay } from './time-zone.ts';

/** One end of the window a request names: a calendar date, or an instant. */
export interface Bound {
  /** The instant; a date's midnight UTC. */
  readonly at: Date;
  readonly date: string | null;
}

/** What a request asked for: `from` inclusive, `to` exclusive; null is unbounded (contract section 6). */
export interface Window {
  readonly from: Bound | null;
  readonly to: Bound | null;
}

/** A window for a query: instants, or for date fields the midnights UTC of dates. */
export interface Range {
  readonly from: Date | null;
  readonly to: Date | null;
}

/** The part of a range that does not lie before `since`; of one that lies before it altogether its empty end. */
export function notBefore(range: Range, since: Date | null): Range {
  if (since === null || (range.from !== null && range.from >= since)) return range;
  return { from: range.to !== null && range.to < since ? range.to : since, to: range.to };
}

export const EVERYTHING: Window = { from: null, to: null };

const FORM = 'must be a date (YYYY-MM-DD) or an RFC 3339 instant';

/** A window that ends before it begins. */
export const INVERTED: Violation = { parameter: 'from', message: 'must be before to' };

/**
 * Reads `from` and `to`; empty is unbounded. Adds what is wrong to `violations`. `zoned` leaves a date beside an instant to
 * `isInvertedIn`: which of the two comes first depends on a zone.
 */
export function parseWindow(from: string, to: string, zoned: boolean, violations: Violation[]): Window {
  const window = { from: parseBound('from', from, violations), to: parseBound('to', to, violations) };
  if (!(zoned && isMixed(window)) && isInverted(toInstants(window))) violations.push(INVERTED);
  return window;
}

/** Whether a date and an instant are the wrong way round, a date being its midnight in the zone. */
export function isInvertedIn(window: Window, timeZone: string): boolean {
  return isMixed(window) && isInverted(toInstantsIn(window, timeZone));
}

function isMixed({ from, to }: Window): boolean {
  return from !== null && to !== null && (from.date === null) !== (to.date === null);
}

function isInverted({ from, to }: Range): boolean {
  return from !== null && to !== null && from >= to;
}

function parseBound(parameter: string, text: string, violations: Violation[]): Bound | null {
  if (text === '') return null;
  if (isDate(text)) return { at: new Date(`${text}T00:00:00Z`), date: text };
  const instant = findInstant(text);
  if (instant !== null) return { at: withinCalendar(instant.at), date: null };
  violations.push({ parameter, message: FORM });
  return null;
}

/** For fields that are instants: a date means midnight UTC. */
export function toInstants(window: Window): Range {
  return { from: window.from?.at ?? null, to: window.to?.at ?? null };
}

/** For fields that are calendar dates: a date stands for its midnight UTC, so an instant within a day begins the next. */
export function toDates(window: Window): Range {
  return { from: toDay(window.from), to: toDay(window.to) };
}

function toDay(bound: Bound | null): Date | null {
  if (bound === null) return null;
  const day = new Date(`${toDateText(bound.at)}T00:00:00Z`);
  return day.getTime() === bound.at.getTime() ? day : new Date(day.getTime() + 86_400_000);
}

/** For aggregations and trends: a date means midnight in the zone. */
export function toInstantsIn(window: Window, timeZone: string): Range {
  const toInstant = (bound: Bound | null) => {
    if (bound === null) return null;
    return bound.date === null ? bound.at : startOfDay(bound.date, timeZone);
  };
  return { from: toInstant(window.from), to: toInstant(window.to) };
}
