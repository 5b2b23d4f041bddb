import type { Listed, Page } from '@phds/catalog/pagination';
import { notFound } from '@phds/service-kit/errors';
import { newId } from '@phds/service-kit/ids';
import {
  type AppReport,
  type Complaint,
  parseComplaintText,
  type ReportSubject,
  refuseTooMany,
} from '../domain/app-report.ts';

/** The reports in the database. */
export interface ReportStore {
  /**
   * Adds a report. If the person made the same one within the last minute, returns that and adds nothing. Null when the person has no
   * such grant and has claimed no such pending approval. `decide` receives the number of reports that the person made this UTC day,
   * which cannot change until the commit; if it throws, nothing is added.
   */
  add(report: NewReport, decide: (madeToday: number, now: Date) => void): Promise<StoredReport | null>;
  /** Newest first. A null app is every app. */
  list(clientId: string | null, page: Page): Promise<Listed<AppReport>>;
}

export interface NewReport extends Complaint {
  readonly id: string;
  readonly userId: string;
  readonly subject: ReportSubject;
}

export type StoredReport = Pick<AppReport, 'id' | 'at'>;

/** What people report about apps, for the operator. */
export interface Reports {
  /** Repeating a report within a minute returns the first one. Throws `invalid_request`, `not_found`, `rate_limited`. */
  report(userId: string, subject: ReportSubject, complaint: Complaint): Promise<StoredReport>;
  list(clientId: string | null, page: Page): Promise<Listed<AppReport>>;
}

export function createReports({ reports }: { readonly reports: ReportStore }): Reports {
  return {
    async report(userId, subject, { reason, text }) {
      const report = { id: newId('rpt'), userId, subject, reason, text: parseComplaintText(text) };
      const stored = await reports.add(report, refuseTooMany);
      if (stored === null) throw notFound();
      return stored;
    },
    list: (clientId, page) => reports.list(clientId, page),
  };
}
