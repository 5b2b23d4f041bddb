import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { toPage } from '@phds/catalog/pagination';
import { findTimeZone, NO_TIME_ZONE } from '@phds/catalog/time-zones';
import {
  type Access as AccessMessage,
  AccessService,
  type ListAccessesRequest,
  type RefusalCount as RefusalMessage,
  Verdict,
} from '@phds/contracts/phds/consent/v1/access_pb';
import { withoutDeadline } from '@phds/service-kit/deadline';
import { invalidRequest } from '@phds/service-kit/errors';
import type { UserOf } from '@phds/service-kit/rpc/context';
import { implement } from '@phds/service-kit/rpc/service';
import { nameRequests } from '@phds/service-kit/telemetry/current-origin';
import { RECORD_WRITERS } from '@phds/service-kit/trust/callers';
import { parseUserId } from '@phds/service-kit/user-id';
import type { DayRange } from '../access/counts-sql.ts';
import type { AccessHistory, DayFilter } from '../access/history.ts';
import type { AccessRecorder } from '../access/record.ts';
import type { Usage } from '../access/usage.ts';
import {
  type Access,
  type AccessEntry,
  findAccessUuid,
  type RefusalCount,
  type Verdict as VerdictName,
} from '../domain/access.ts';
import { findDate, findMoment, parseHash, parseName, parseText } from './parameters.ts';

/** Maximum number of accesses in one call and in one batch, and of counts in one call. */
export const LARGEST_BATCH = 500;
/** More than all scopes of the catalog, joined. */
const LONGEST_SCOPE = 512;
const LONGEST_DAYS = 366;
const DAY_MS = 86_400_000;
const INT_MAX = 0x7fff_ffff;

const VERDICTS = {
  released: Verdict.RELEASED,
  token_expired: Verdict.TOKEN_EXPIRED,
  token_revoked: Verdict.TOKEN_REVOKED,
  family_revoked: Verdict.FAMILY_REVOKED,
  grant_revoked: Verdict.GRANT_REVOKED,
  grant_expired: Verdict.GRANT_EXPIRED,
  scope_withdrawn: Verdict.SCOPE_WITHDRAWN,
  app_not_alive: Verdict.APP_NOT_ALIVE,
  window_changed: Verdict.WINDOW_CHANGED,
  restore_unconfirmed: Verdict.RESTORE_UNCONFIRMED,
} as const satisfies Record<VerdictName, Verdict>;

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
        return { verdicts: verdicts.map((verdict) => VERDICTS[verdict]) };
      },
      async listAccesses(request, context) {
        const userId = await userOf(context);
        const filter = { ...findFilter(request), ...findPeriod(request) };
        const { items, total } = await history.list(userId, filter, toPage(request.page));
        return { accesses: items.map(toAccessRecordMessage), total };
      },
      async exportAccesses(request, context) {
        const userId = await userOf(context);
        const filter = { ...findFilter(request), ...findPeriod(request) };
        const piece = await history.exportPiece(userId, filter, findPlace(request.afterId));
        return { accesses: piece.map(toAccessRecordMessage) };
      },
      async listAccessDays(request, context) {
        const userId = await userOf(context);
        const [filter, range] = [findFilter(request), findDays(request)];
        const days = await history.days(userId, filter, range, parseTimeZone(request.timeZone));
        return { days: days.map((day) => ({ ...day, scopes: [...day.scopes] })) };
      },
      async getAppUsage(request, context) {
        const userId = await userOf(context);
        const clientId = parseName('clientId', request.clientId);
        const rows = await usage.ofApp(clientId, userId, findDays(request));
        return { usage: rows.map((row) => ({ ...row, refusals: [...row.refusals] })) };
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
      exportAccesses: ['gateway'],
      listAccessDays: ['gateway'],
      getAppUsage: ['gateway'],
      countRefusals: ['gateway'],
    },
  );
}

function toAccessRecordMessage(entry: AccessEntry) {
  return { ...entry, at: timestampFromDate(entry.at), verdict: VERDICTS[entry.verdict] };
}

function findPlace(afterId: string): string | null {
  if (afterId === '') return null;
  const uuid = findAccessUuid(afterId);
  if (uuid === null) throw invalidRequest('afterId', 'is not the id of an access');
  return uuid;
}

function parseAccess(message: AccessMessage): Access {
  return {
    clientId: parseName('clientId', message.clientId),
    userId: parseUserId(message.userId),
    grantId: parseName('grantId', message.grantId),
    familyId: parseText('familyId', message.familyId, 128),
    tokenHash: parseHash('tokenHash', message.tokenHash),
    tokenExpiresAt: message.tokenExpiresAt,
    scope: parseName('scope', message.scope, LONGEST_SCOPE),
    endpoint: parseName('endpoint', message.endpoint, 512),
    from: parseText('from', message.from, 64),
    to: parseText('to', message.to, 64),
    // Pages beyond the integer range are empty, like any page beyond the end.
    page: Math.min(message.page, INT_MAX),
    recordCount: Math.min(message.recordCount, INT_MAX),
    requestId: parseText('requestId', message.requestId, 256),
    dataFrom: parseText('dataFrom', message.dataFrom, 10),
  };
}

function parseRefusal(message: RefusalMessage): RefusalCount {
  const { clientId, date, endpoint, status, count, withoutKey, grantId } = message;
  if (status < 400 || status > 599) throw invalidRequest('status', 'must be 400 to 599');
  if (count < 1) throw invalidRequest('count', 'must be at least 1');
  const day = findDate('date', date);
  if (day === null) throw invalidRequest('date', 'is missing');
  return {
    clientId: parseName('clientId', clientId),
    date: day,
    endpoint: parseName('endpoint', endpoint, 512),
    status,
    count: Math.min(count, INT_MAX),
    withoutKey: Math.min(withoutKey, count, INT_MAX),
    grantId: parseText('grantId', grantId, 128),
  };
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

/** An IANA time zone; null when empty. */
function parseTimeZone(text: string): string | null {
  if (text === '') return null;
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
