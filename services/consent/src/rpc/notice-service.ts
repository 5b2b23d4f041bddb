import { NoticeService } from '@phds/contracts/phds/consent/v1/notices_pb';
import { invalidRequest } from '@phds/service-kit/errors';
import { implement } from '@phds/service-kit/rpc/service';
import type { Notices } from '../app/notices.ts';
import { parseCursor, toCursor, toNoticeMessage } from './notice-messages.ts';

const HOST_APPLICATION = ['host-application'];

const USUAL_LIMIT = 100;
const LARGEST_LIMIT = 500;

/** phds.consent.v1.NoticeService. */
export function createNoticeService(notices: Notices) {
  return implement(
    NoticeService,
    {
      async listNotices(request) {
        const after = parseCursor('after', request.after);
        const found = await notices.list(after, parseLimit(request.limit));
        return { notices: found.map(toNoticeMessage), next: toCursor(found.at(-1)?.number ?? after) };
      },
    },
    { listNotices: HOST_APPLICATION },
  );
}

function parseLimit(limit: number): number {
  if (limit > LARGEST_LIMIT) throw invalidRequest('limit', `must be at most ${LARGEST_LIMIT}`);
  return limit === 0 ? USUAL_LIMIT : limit;
}
