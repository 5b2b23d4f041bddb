import type { Connection, NewNotice } from './notice.ts';

const DAY_MS = 86_400_000;

/** How long before its end a person hears of it. */
const ENDING_DAYS = 7;
/** An end that was set at most this long ahead is not announced: the person chose it recently. */
const LONG_LIFE_DAYS = 14;

/** A day with at most this many reads is never unusual. */
export const USUAL_READS = 100;
const UNUSUAL_FACTOR = 5;
/** The days before that a day is compared with. */
export const PAST_DAYS = 28;
const LEAST_PAST_DAYS = 7;

/** A grant by the facts that say whether it needs a closer check. */
export interface GrantDates {
  readonly id: string;
  readonly grantedAt: Date;
  readonly expiresAt: Date;
}

/** A grant near its end, with what its notice needs. */
export interface EndingGrant {
  readonly userId: string;
  readonly connection: Connection;
  /** When the person decided on this end. */
  readonly endSetAt: Date;
}

/** A day with more than USUAL_READS reads by a grant. */
export interface HeavyDay {
  readonly userId: string;
  readonly connection: Connection;
  /** UTC, `YYYY-MM-DD`. */
  readonly day: string;
  readonly reads: number;
  /** Reads on the days before: PAST_DAYS, or as many as the grant is old. */
  readonly pastReads: number;
  readonly pastDays: number;
}

/** Whether the end is near, and not for certain one that was set recently. */
export function mayAnnounceEnd({ grantedAt, expiresAt }: GrantDates, now: Date): boolean {
  return isNear(expiresAt, now) && isLongLife(grantedAt, expiresAt);
}

/** The same for every notice of this end: a changed end is announced again. */
export function toEndingId(grantId: string, expiresAt: Date): string {
  return `ending:${grantId}:${expiresAt.toISOString()}`;
}

/** The notice of an end that is near; null if it was set recently. */
export function toEndingNotice(grant: EndingGrant, now: Date): NewNotice | null {
  const { userId, connection, endSetAt } = grant;
  const { grantId, terms } = connection;
  if (!isNear(terms.expiresAt, now) || !isLongLife(endSetAt, terms.expiresAt)) return null;
  const content = { kind: 'connection_ending', connection } as const;
  return { id: toEndingId(grantId, terms.expiresAt), userId, at: now, content };
}

/** The same for every notice of this grant and day. */
export function toUnusualId(grantId: string, day: string): string {
  return `unusual:${grantId}:${day}`;
}

/** The notice of a day with unusually many reads; null if they are not unusual for this grant. */
export function toUnusualNotice(heavy: HeavyDay, now: Date): NewNotice | null {
  if (!isUnusual(heavy)) return null;
  const { userId, connection, day, reads, pastReads, pastDays } = heavy;
  const usualReadsPerDay = Math.round(pastReads / pastDays);
  const content = { kind: 'unusual_reading', connection, day, reads, usualReadsPerDay } as const;
  return { id: toUnusualId(connection.grantId, day), userId, at: now, content };
}

/** More reads than USUAL_READS, and than five times the mean of the days before, of which there are at least seven. */
function isUnusual({ reads, pastReads, pastDays }: HeavyDay): boolean {
  if (reads <= USUAL_READS || pastDays < LEAST_PAST_DAYS) return false;
  return reads * pastDays > UNUSUAL_FACTOR * pastReads;
}

function isNear(end: Date, now: Date): boolean {
  return end > now && end.getTime() - now.getTime() <= ENDING_DAYS * DAY_MS;
}

function isLongLife(from: Date, end: Date): boolean {
  return end.getTime() - from.getTime() > LONG_LIFE_DAYS * DAY_MS;
}
