import { cleanShownText, countCharacters } from '@phds/catalog/shown-text';
import { REPORT_TEXT_MAX, type ReportReason } from '@phds/catalog/wire-names';
import { AppError, invalidRequest } from '@phds/service-kit/errors';

/** How many reports one person can make on one UTC day. */
export const REPORTS_PER_DAY = 10;

/** The same report within this time is the same press of a button, or a repetition after a lost answer. */
export const REPEATED_WITHIN_SECONDS = 60;

/** Where the person met the app. */
export type ReportSubject = { readonly grantId: string } | { readonly pendingId: string };

/** What a person says about an app. */
export interface Complaint {
  readonly reason: ReportReason;
  /** In the person's own words; may be empty. */
  readonly text: string;
}

/** A stored report. */
export interface AppReport extends Complaint {
  readonly id: string;
  readonly at: Date;
  readonly clientId: string;
  /** As the person saw it, like the host. */
  readonly appName: string;
  /** Empty when it was not stored. */
  readonly redirectHost: string;
  readonly currentAppName: string;
  /** Null after the person was erased; the text is empty then. */
  readonly userId: string | null;
  readonly grantId: string | null;
  readonly pendingId: string | null;
}

/**
 * The text of a report without invisible characters, which could hide or reorder what an operator reads. Throws `invalid_request`
 * when it is too long.
 */
export function parseComplaintText(text: string): string {
  if (countCharacters(text) > REPORT_TEXT_MAX) {
    throw invalidRequest('text', `must have at most ${REPORT_TEXT_MAX} characters`);
  }
  return cleanShownText(text, 'lines');
}

/** Throws `rate_limited` when a person has made all reports of this UTC day. */
export function refuseTooMany(madeToday: number, now: Date): void {
  if (madeToday < REPORTS_PER_DAY) return;
  const nextDay = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1);
  throw new AppError('rate_limited', `A person can report at most ${REPORTS_PER_DAY} times a day.`, {
    retryAfterSeconds: Math.ceil((nextDay - now.getTime()) / 1_000),
  });
}
