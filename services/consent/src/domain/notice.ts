import type { AppReport } from './app-report.ts';
import { type GrantTerms, sameTerms } from './grant.ts';

/** A grant as a notice describes it. */
export interface Connection {
  readonly grantId: string;
  readonly clientId: string;
  /** As shown to the person at the latest approval. */
  readonly appName: string;
  readonly terms: GrantTerms;
}

/** What a notice says: never health data, never tokens. */
export type NoticeContent =
  | { readonly kind: 'connection_began'; readonly connection: Connection }
  | { readonly kind: 'connection_changed'; readonly connection: Connection; readonly before: GrantTerms }
  | { readonly kind: 'connection_ending'; readonly connection: Connection }
  | ({ readonly kind: 'unusual_reading'; readonly connection: Connection } & UnusualDay)
  | ({ readonly kind: 'app_reported' } & ReportedApp);

/** A report, for the host application's support. */
export interface ReportedApp
  extends Pick<AppReport, 'clientId' | 'appName' | 'redirectHost' | 'grantId' | 'reason' | 'text'> {
  readonly reportId: string;
}

export interface UnusualDay {
  /** UTC, `YYYY-MM-DD`. */
  readonly day: string;
  readonly reads: number;
  readonly usualReadsPerDay: number;
}

/** A notice without its number in the feed. */
export interface NewNotice {
  /** Names the cause: two notices of one cause have the same id, and only the first is kept. */
  readonly id: string;
  readonly userId: string;
  readonly at: Date;
  readonly content: NoticeContent;
}

/** A notice in the feed. */
export interface Notice extends NewNotice {
  readonly number: number;
}

/** An approval, as far as notices depend on it. */
export interface ApprovedConnection {
  readonly pendingId: string;
  readonly userId: string;
  readonly at: Date;
  /** With the terms after the approval. */
  readonly connection: Connection;
  /** The terms of the joined grant before; null for a new grant. */
  readonly before: GrantTerms | null;
}

/** The notice of an approval; null when it changed nothing. */
export function toApprovalNotice(approved: ApprovedConnection): NewNotice | null {
  const { pendingId, userId, at, connection, before } = approved;
  if (before === null) {
    const content = { kind: 'connection_began', connection } as const;
    return { id: `began:${connection.grantId}`, userId, at, content };
  }
  if (sameTerms(before, connection.terms)) return null;
  const { scopes, expiresAt, dataFrom } = before;
  const content = {
    kind: 'connection_changed',
    connection,
    before: { scopes, expiresAt, dataFrom },
  } as const;
  return { id: `changed:${pendingId}`, userId, at, content };
}

/** The notice of a report. */
export function toReportNotice(userId: string, at: Date, report: ReportedApp): NewNotice {
  return { id: `reported:${report.reportId}`, userId, at, content: { kind: 'app_reported', ...report } };
}
