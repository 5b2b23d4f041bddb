import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { ACCESS_CSV_HEADER, toAccessCsvLine } from '@phds/catalog/access-csv';
import { isDate } from '@phds/catalog/instants';
import { isScope, SCOPE_NAMES } from '@phds/catalog/scopes';
import { ADHERENCE_STATUSES, REFUSAL_REASONS } from '@phds/catalog/wire-names';
import { type AccessDay, type AccessRecord, Verdict } from '@phds/contracts/phds/consent/v1/access_pb';
import { AppError } from '@phds/service-kit/errors';
import { z } from 'zod';
import { DATA_ITEMS } from '../api/data-items.ts';
import { type Exchange, onBehalf, requireSession, takeCost, userOf } from '../exchange.ts';
import { refusalReason, toJson } from '../messages.ts';
import {
  count,
  dataOf,
  date,
  instant,
  instantOrNull,
  listOf,
  PAGE_QUERY,
  scope,
  text,
  textOrNull,
} from '../openapi/fields.ts';
import { type Call, jsonOperation, type MountedOperation, sessionOperation } from '../operation.ts';
import {
  DAY_RANGE_QUERY,
  findBound,
  type ListQuery,
  readDayRange,
  readQuery,
  readTimeZone,
  sliceOf,
  toList,
} from '../query.ts';
import { GUARDS, send } from '../respond.ts';
import { currentName, findCurrentName } from './grants.ts';

const namedApp = z.object({ clientId: text, name: text, currentName });

const recordedScope = text.meta({
  description:
    'The scope of the data; several of a FHIR search in the order of the catalog, separated by spaces.',
});

const accessJson = z
  .object({
    id: text,
    at: instant,
    app: namedApp,
    grantId: text,
    scope: recordedScope,
    endpoint: text,
    from: textOrNull,
    to: textOrNull,
    recordCount: count,
    outcome: z.enum(['released', 'refused']),
    reason: z.enum(REFUSAL_REASONS).nullable(),
  })
  .meta({ id: 'Access', description: 'What an app read, or was refused; without values.' });

const accessDayJson = z
  .object({
    date,
    app: namedApp,
    released: count,
    refused: count,
    scopes: z.array(z.object({ scope: recordedScope, released: count, refused: count })),
    attempts: count.meta({
      description:
        'Requests that were refused on this UTC day, before anything was read, after the person had narrowed or ended the sharing; 0 with the filter `scope`.',
    }),
  })
  .meta({ id: 'AccessDay' });

const sessionJson = z.object({ userId: text, name: textOrNull, expiresAt: instant });

const dose = z.object({
  medication: text,
  scheduledAt: instantOrNull,
  status: z.enum(ADHERENCE_STATUSES),
  takenAt: instantOrNull,
  dose: textOrNull,
  reason: textOrNull,
});

/** health-data writes this body. The newest items are those of the endpoint that the scope opens. */
const previewJson = z.object({
  scope,
  total: count,
  newest: z.array(z.looseObject({})),
  trend: z.array(DATA_ITEMS.trends),
  doses: z
    .object({ total: count, newest: z.array(dose) })
    .optional()
    .meta({ description: 'For `read:medications`.' }),
});

/** health-data writes this body. */
const overviewJson = z.array(
  z.object({
    scope,
    total: count,
    latest: z.looseObject({}).nullable().meta({
      description:
        'As the endpoint of the scope shows it; null if there is none, and for items without a time.',
    }),
  }),
);

/** One access as the user sees it: what was read or refused, without values. */
function toAccessJson(record: AccessRecord): z.infer<typeof accessJson> {
  const outcome = record.verdict === Verdict.RELEASED ? 'released' : 'refused';
  return toJson(accessJson, {
    ...record,
    app: toNamedApp(record),
    outcome,
    reason: refusalReason(record.verdict),
  });
}

/** The accesses of one app on one day as the user sees them. */
function toAccessDayJson(day: AccessDay): z.infer<typeof accessDayJson> {
  return toJson(accessDayJson, { ...day, app: toNamedApp(day) });
}

function toNamedApp({ clientId, appName, currentAppName }: AccessRecord | AccessDay) {
  return { clientId, name: appName, currentName: findCurrentName(appName, currentAppName) };
}

const bound = text.meta({ description: 'A date (2026-03-01) or an RFC 3339 instant.' });
const grantId = text.meta({ description: 'Of this grant only.' });
const FILTERS = { clientId: text.meta({ description: 'Of this app only.' }), scope };

/** The filters of the accesses of one grant. */
const GRANT_ACCESS_QUERY = { ...FILTERS, from: bound, to: bound };
/** The filters of accesses. */
const ACCESS_QUERY = { ...GRANT_ACCESS_QUERY, grantId };
const SUMMARY_QUERY = {
  ...FILTERS,
  ...DAY_RANGE_QUERY,
  grantId,
  timeZone: text.meta({ description: 'The IANA time zone of the days; UTC if absent.' }),
};
const PREVIEW_QUERY = {
  scope,
  dataFrom: text.meta({
    format: 'date',
    description: 'First day that the app would see; absent: everything.',
  }),
};

/** Reads the filters for accesses and reports invalid ones to the query. */
function readAccessFilter(query: ListQuery) {
  const { from, to } = readPeriod(query);
  return {
    grantId: query.find('grantId') ?? '',
    clientId: query.find('clientId') ?? '',
    scope: readScope(query),
    ...(from === null ? {} : { from: timestampFromMs(from) }),
    ...(to === null ? {} : { to: timestampFromMs(to) }),
  };
}

/** `from` is inclusive, `to` exclusive, both in Unix milliseconds; null when absent. */
function readPeriod(query: ListQuery) {
  const toMs = (name: 'from' | 'to') => findBound(query, name)?.at.getTime() ?? null;
  const [from, to] = [toMs('from'), toMs('to')];
  if (from !== null && to !== null && from >= to) query.fault('from', 'must be before "to"');
  return { from, to };
}

function readScope(query: ListQuery): string {
  const text = query.find('scope');
  if (text === undefined) return '';
  if (!isScope(text)) query.fault('scope', `must be one of ${SCOPE_NAMES.join(', ')}`);
  return text;
}

const ACCESSES = '/partner/consent/accesses';

/** What apps have read, and what they would read. */
export const ACCESS_OPERATIONS: readonly MountedOperation[] = [
  jsonOperation({
    method: 'GET',
    path: ACCESSES,
    operationId: 'listAccesses',
    summary: 'List accesses',
    query: { ...PAGE_QUERY, ...ACCESS_QUERY },
    answer: { description: 'The accesses, newest first.', body: listOf(accessJson) },
    errors: ['NOT_FOUND'],
    handle: (call) => listAccesses(call),
  }),
  jsonOperation({
    method: 'GET',
    path: '/partner/consent/grants/:id/accesses',
    operationId: 'listGrantAccesses',
    summary: 'List the accesses of a grant',
    query: { ...PAGE_QUERY, ...GRANT_ACCESS_QUERY },
    answer: { description: 'The accesses, newest first.', body: listOf(accessJson) },
    handle: (call) => listAccesses(call, { grantId: call.id }),
  }),
  jsonOperation({
    method: 'GET',
    path: `${ACCESSES}/summary`,
    operationId: 'summarizeAccesses',
    summary: 'Count accesses by day and app',
    description: 'The last 30 days, unless `from` and `to` say otherwise.',
    query: { ...PAGE_QUERY, ...SUMMARY_QUERY },
    answer: { description: 'By day and app, newest day first.', body: listOf(accessDayJson) },
    errors: ['NOT_FOUND'],
    handle: summarizeAccesses,
  }),
  sessionOperation({
    method: 'GET',
    path: `${ACCESSES}.csv`,
    operationId: 'exportAccesses',
    summary: 'Download accesses',
    query: ACCESS_QUERY,
    answers: {
      200: {
        description: 'All accesses as a file (RFC 4180), newest first.',
        body: text,
        type: 'text/csv',
        headers: ['Content-Disposition'],
      },
    },
    errors: ['NOT_FOUND'],
    handle: exportAccesses,
  }),
  sessionOperation({
    method: 'GET',
    path: '/partner/consent/preview',
    operationId: 'previewData',
    summary: 'See own data as an app with one scope would',
    query: PREVIEW_QUERY,
    requiredQuery: ['scope'],
    answers: { 200: { description: 'Newest items and a trend.', body: dataOf(previewJson) } },
    handle: showPreview,
  }),
  sessionOperation({
    method: 'GET',
    path: '/partner/consent/overview',
    operationId: 'listOwnData',
    summary: 'See how much data of each type is held, and the newest item',
    description: 'Without the two summaries, which are computed from readings.',
    answers: { 200: { description: 'One entry for each scope.', body: dataOf(overviewJson) } },
    handle: showOverview,
  }),
  jsonOperation({
    method: 'GET',
    path: '/partner/session',
    operationId: 'getSession',
    tag: 'Session',
    summary: 'Read who is signed in',
    answer: { description: 'The person.', body: dataOf(sessionJson) },
    handle: ({ exchange }) => {
      const { userId, name, expiresAt } = requireSession(exchange);
      return { data: { userId, name, expiresAt: expiresAt.toISOString() } };
    },
  }),
];

async function listAccesses({ backends, caller, query }: Call, ofGrant: { grantId?: string } = {}) {
  const filter = readAccessFilter(query);
  query.check();
  const { accesses, total } = await backends.accesses.listAccesses(
    { page: query.page, ...filter, ...ofGrant },
    caller,
  );
  return toList(accesses.map(toAccessJson), query.page, total);
}

/** Adding up quarter hours costs many times as much as reading UTC days. */
const COST_OF_ZONE = 5;

/** Days are those of `timeZone`, by default UTC. */
async function summarizeAccesses({ exchange, backends, caller, query }: Call) {
  const range = readDayRange(query);
  const wanted = readScope(query);
  const timeZone = readTimeZone(query);
  query.check();
  if (timeZone !== '') await takeCost(exchange, COST_OF_ZONE);
  const { days } = await backends.accesses.listAccessDays(
    {
      ...range,
      scope: wanted,
      timeZone,
      grantId: query.find('grantId') ?? '',
      clientId: query.find('clientId') ?? '',
    },
    caller,
  );
  return toList(sliceOf(days, query.page).map(toAccessDayJson), query.page, days.length);
}

const COST_OF_PREVIEW = 10;
/** Each kind of data is read and counted. */
const COST_OF_OVERVIEW = 30;

/** health-data writes the body. */
async function showPreview(exchange: Exchange): Promise<void> {
  const query = readQuery(exchange.request.originalUrl, PREVIEW_QUERY);
  const wanted = readScope(query);
  if (query.find('scope') === undefined) query.fault('scope', 'is required');
  const dataFrom = query.find('dataFrom') ?? '';
  if (dataFrom !== '' && !isDate(dataFrom)) query.fault('dataFrom', 'must be a date (2026-03-01)');
  query.check();
  await takeCost(exchange, COST_OF_PREVIEW);
  const { body } = await exchange.gateway.backends.previews.preview(
    { scope: wanted, dataFrom },
    onBehalf(exchange),
  );
  sendBody(exchange, body);
}

async function showOverview(exchange: Exchange): Promise<void> {
  readQuery(exchange.request.originalUrl, {}).check();
  await takeCost(exchange, COST_OF_OVERVIEW);
  const { body } = await exchange.gateway.backends.previews.overview({}, onBehalf(exchange));
  sendBody(exchange, body);
}

/** Sends JSON that health-data has written. */
function sendBody({ response }: Exchange, body: Uint8Array): void {
  const headers = { 'Content-Type': 'application/json; charset=utf-8' };
  send(response, 200, headers, Buffer.from(body.buffer, body.byteOffset, body.byteLength));
}

/** Concurrent exports allowed for one person; each holds a connection and memory. */
const AT_ONCE = 2;
const RETRY_AFTER_SECONDS = 5;

/** A client that reads nothing for this long is treated as gone. */
const IDLE_MS = 60_000;

const HEAD = {
  'Content-Type': 'text/csv; charset=utf-8; header=present',
  'Content-Disposition': 'attachment; filename="access-history.csv"',
  'Cache-Control': 'no-store',
  ...GUARDS,
};

type ReadPiece = (afterId: string) => Promise<readonly AccessRecord[]>;

/** Exports in progress in this process, by person. */
const running = new Map<string, number>();

async function exportAccesses(exchange: Exchange): Promise<void> {
  const userId = userOf(exchange);
  const others = running.get(userId) ?? 0;
  if (others >= AT_ONCE) throw new AppError('rate_limited', '', { retryAfterSeconds: RETRY_AFTER_SECONDS });
  running.set(userId, others + 1);
  try {
    await streamAccesses(exchange);
  } finally {
    const left = (running.get(userId) ?? 1) - 1;
    if (left > 0) running.set(userId, left);
    else running.delete(userId);
  }
}

/**
 * All accesses that match the list's filters, newest first. At most two pieces are in memory, and the next is requested when the client
 * has read the previous one. If a piece cannot be read, the connection ends without the last chunk, so that no client takes the file for
 * complete.
 */
async function streamAccesses(exchange: Exchange): Promise<void> {
  const { gateway, request, response, requestId } = exchange;
  const query = readQuery(request.originalUrl, ACCESS_QUERY);
  const filter = readAccessFilter(query);
  query.check();
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  // If the client disconnected during session and limit checks, 'close' has already been emitted.
  if (response.destroyed) return;
  const options = { ...onBehalf(exchange), signal: gone.signal };
  const readPiece: ReadPiece = async (afterId) =>
    (await gateway.backends.accesses.listAccesses({ ...filter, inPieces: true, afterId }, options)).accesses;
  // Read before the head is sent, so that an error can still set the status.
  const first = await readPiece('');
  response.writeHead(200, HEAD);
  response.setTimeout(IDLE_MS, () => response.destroy());
  try {
    await pipeline(Readable.from(toCsv(first, readPiece)), response);
  } catch (err) {
    if (!gone.signal.aborted) gateway.log.warn({ err, requestId }, 'an export of accesses broke off');
    response.destroy();
  }
}

/** All accesses as CSV, from the first piece on. */
export async function* toCsv(first: readonly AccessRecord[], readPiece: ReadPiece): AsyncGenerator<string> {
  yield ACCESS_CSV_HEADER;
  for (let piece = first; ; ) {
    const last = piece.at(-1);
    if (last === undefined) return;
    yield piece.map(toLine).join('');
    piece = await readPiece(last.id);
  }
}

function toLine(record: AccessRecord): string {
  const { at, app, from, to, outcome, reason, ...access } = toAccessJson(record);
  return toAccessCsvLine({
    ...access,
    at: at ?? '',
    outcome: outcome === 'released' ? outcome : 'refused',
    app: app.clientId,
    appName: app.name,
    from: from ?? '',
    to: to ?? '',
    page: record.page,
    requestId: record.requestId,
    reason: reason ?? '',
  });
}
