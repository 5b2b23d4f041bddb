import { isCategory } from '@phds/catalog/categories';
import {
  type DataChange as DataChangeMessage,
  EventService,
} from '@phds/contracts/phds/consent/v1/events_pb';
import { invalidRequest } from '@phds/service-kit/errors';
import { implement } from '@phds/service-kit/rpc/service';
import { parseUserId } from '@phds/service-kit/user-id';
import type { DataChange, DataChanges } from '../app/data-changes.ts';
import { parseMoment } from './parameters.ts';

const LARGEST_REPORT = 1_000;

/** phds.consent.v1.EventService. */
export function createEventService(changes: DataChanges) {
  return implement(
    EventService,
    {
      async reportDataChanges(request) {
        if (request.changes.length > LARGEST_REPORT) {
          throw invalidRequest('changes', `at most ${LARGEST_REPORT} at once`);
        }
        await changes.report(request.changes.map(parseChange));
        return {};
      },
    },
    { reportDataChanges: ['health-data'] },
  );
}

function parseChange({ userId, category, at, latestReadingAt }: DataChangeMessage): DataChange {
  if (!isCategory(category)) throw invalidRequest('category', 'is not a category');
  return {
    userId: parseUserId(userId),
    category,
    at: parseMoment('at', at),
    latestReadingAt: parseMoment('latestReadingAt', latestReadingAt),
  };
}
