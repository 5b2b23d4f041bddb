import { toPage } from '@phds/catalog/pagination';
import { findTimeZone, NO_TIME_ZONE } from '@phds/catalog/time-zones';
import {
  type Access,
  AccessRecordSchema,
  AccessService,
  type ListAccessesRequest,
  type RefusalCount,
  Verdict,
} from '@phds/contracts/phds/consent/v1/access_pb';
import { nameRequests, withoutDeadline } from '@phds/service-kit/current-work';
import { invalidRequest } from '@phds/service-kit/errors';
import { parseUserId } from '@phds/service-kit/ids';
import type { UserOf } from '@phds/service-kit/rpc/context';
import { toMessage } from '@phds/service-kit/rpc/messages';
import { implement } from '@phds/service-kit/rpc/service';
import { RECORD_WRITERS } from '@phds/service-kit/trust/callers';
import { findDate, findMoment, parseHash, parseName, parseText } from '../parameters.ts';
import type { AccessHistory, DayFilter } from './history.ts';
import type { DayRange } from './local-days.ts';
import type { AccessRecorder } from './record.ts';
import type { Usage } from './usage.ts';

/** Maximum number of accesses in one call and in one batch, and of counts in one call. */
export const LARGEST_BATCH = 500;
/** More than all scopes of the catalog, joined. */
const LONGEST_SCOPE = 512;
const LONGEST_DAYS = 366;
const DAY_MS = 86_400_000;
const INT_MAX = 0x7fff_ffff;

/** phds.consent.v1.AccessService. */
export function createAccessService({
  recorder,
  history,
  usage,
  userOf,
}: {
  readonly recorder: Pick<AccessRecorder, 'record'>;
  readonly history: AccessHistory;
  readonly usage: Usage;
  readonly userOf: UserOf;
}) {
  return implement(
    AccessService,
    {
      async recordAccess(request) {
        const { length } = request.accesses;
        if (length < 1 || length > LARGEST_BATCH) {
          throw invalidRequest('accesses', `must be 1 to ${LARGEST_BATCH}`);
        }
        nameRequests(() => request.accesses.map(({ requestId }) => requestId));
        const parsed = request.accesses.map(parseAccess);
        // The batch also contains accesses of other calls, so the recorder has its own time limits.
        const verdicts = await withoutDeadline(() => recorder.record(parsed));
        return {
          verdicts: verdicts.map((verdict) => Verdict[verdict.toUpperCase() as Uppercase<typeof verdict>]),
        };
      },
      async listAccesses(request, context) {
        const userId = await userOf(context);
        const filter = { ...findFilter(request), ...findPeriod(request) };
        const { items, total } = request.inPieces
          ? { items: await history.exportPiece(userId, filter, findPlace(request.afterId)), total: 0 }
          : await history.list(userId, filter, toPage(request.page));
        return { accesses: items.map((access) => toMessage(AccessRecordSchema, access)), total };
      },
      async listAccessDays(request, context) {
        const userId = await userOf(context);
        const [filter, range] = [findFilter(request), findDays(request)];
        return { days: await history.days(userId, filter, range, parseTimeZone(request.timeZone)) };
      },
      async getAppUsage(request, context) {
        const userId = await userOf(context);
        const clientId = parseName('clientId', request.clientId);
        return { usage: await usage.ofApp(clientId, userId, findDays(request)) };
      },
      async countRefusals({ refusals }) {
        if (refusals.length < 1 || refusals.length > LARGEST_BATCH) {
          throw invalidRequest('refusals', `must be 1 to ${LARGEST_BATCH}`);
        }
        await usage.addRefusals(refusals.map(parseRefusal));
        return {};
      },
    },
    {
      recordAccess: ['health-data', ...RECORD_WRITERS],
      listAccesses: ['gateway'],
      listAccessDays: ['gateway'],
      getAppUsage: ['gateway'],
      countRefusals: ['gateway'],
    },
  );
}

function findPlace(afterId: string): string | null {
  if (afterId === '') return null;
  const [, uuid] = /^acc_([0-9a-f]{32})$/.exec(afterId) ?? [];
  if (uuid === undefined) throw invalidRequest('afterId', 'is not the id of an access');
  return uuid;
}

function parseAccess(access: Access): Access {
  parseName('clientId', access.clientId);
  parseUserId(access.userId);
  parseName('grantId', access.grantId);
  parseText('familyId', access.familyId, 128);
  parseHash('tokenHash', access.tokenHash);
  parseName('scope', access.scope, LONGEST_SCOPE);
  parseName('endpoint', access.endpoint, 512);
  parseText('from', access.from, 64);
  parseText('to', access.to, 64);
  parseText('requestId', access.requestId, 256);
  parseText('dataFrom', access.dataFrom, 10);
  // Pages beyond the integer range are empty, like any page beyond the end.
  access.page = Math.min(access.page, INT_MAX);
  access.recordCount = Math.min(access.recordCount, INT_MAX);
  return access;
}

function parseRefusal(refusal: RefusalCount): RefusalCount {
  const { clientId, date, endpoint, status, count, withoutKey, grantId } = refusal;
  if (status < 400 || status > 599) throw invalidRequest('status', 'must be 400 to 599');
  if (count < 1) throw invalidRequest('count', 'must be at least 1');
  if (findDate('date', date) === null) throw invalidRequest('date', 'is missing');
  parseName('clientId', clientId);
  parseName('endpoint', endpoint, 512);
  parseText('grantId', grantId, 128);
  return { ...refusal, count: Math.min(count, INT_MAX), withoutKey: Math.min(withoutKey, count, INT_MAX) };
}

function findFilter(request: { grantId: string; clientId: string; scope: string }): DayFilter {
  return {
    grantId: parseText('grantId', request.grantId, 128) || null,
    clientId: parseText('clientId', request.clientId, 128) || null,
    scope: parseText('scope', request.scope, 128) || null,
  };
}

/** `from` is inclusive, `to` exclusive; null for no bound. */
function findPeriod(request: Pick<ListAccessesRequest, 'from' | 'to'>) {
  const [from, to] = [findMoment('from', request.from), findMoment('to', request.to)];
  if (from !== null && to !== null && from >= to) throw invalidRequest('from', 'must be before to');
  return { from, to };
}

/** An IANA time zone; UTC when empty. */
function parseTimeZone(text: string): string {
  if (text === '') return 'UTC';
  const timeZone = findTimeZone(text);
  if (timeZone === null) throw invalidRequest('timeZone', NO_TIME_ZONE);
  return timeZone;
}

/** Either both or neither; null for the default range. */
function findDays(request: { from: string; to: string }): DayRange | null {
  const from = findDate('from', request.from);
  const to = findDate('to', request.to);
  if (from === null && to === null) return null;
  if (from === null || to === null) throw invalidRequest(from === null ? 'from' : 'to', 'is missing');
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
  if (days < 1) throw invalidRequest('from', 'must not be later than to');
  if (days > LONGEST_DAYS) throw invalidRequest('from', `at most ${LONGEST_DAYS} days at once`);
  return { from, to };
}
