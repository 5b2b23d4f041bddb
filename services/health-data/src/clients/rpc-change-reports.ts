import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import type { EventService } from '@phds/contracts/phds/consent/v1/events_pb';
import type { ReportedChange } from '../change-reports.ts';

/** Tells consent about changes, which announces them to apps. */
export function createRpcChangeReports(consent: Pick<Client<typeof EventService>, 'reportDataChanges'>) {
  return async (changes: readonly ReportedChange[]): Promise<void> => {
    await consent.reportDataChanges({
      changes: changes.map(({ userId, category, at, latestReadingAt }) => ({
        userId,
        category,
        at: timestampFromDate(at),
        latestReadingAt: timestampFromDate(latestReadingAt),
      })),
    });
  };
}
