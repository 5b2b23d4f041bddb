import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { findTimeBound, isDate } from '@phds/catalog/instants';
import { isScope, SCOPE_NAMES } from '@phds/catalog/scopes';
import { findTimeZone, NO_TIME_ZONE } from '@phds/catalog/time-zones';
import { limitCostly } from '../allowance.ts';
import { DAY_RANGE_QUERY, readDayRange } from '../day-range.ts';
import { type Exchange, onBehalf, userOf } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import { type ListQuery, readListQuery, readQuery, toList } from '../list-query.ts';
import { scope, text } from '../openapi/fields.ts';
import { send, sendJson } from '../respond.ts';
import { pathParameter } from '../routing.ts';
import { toAccessDayJson, toAccessJson } from './consent-json.ts';

const bound = text.meta({ description: 'A date (2026-03-01) or an RFC 3339 instant.' });
const grantId = text.meta({ description: 'Of this grant only.' });
const FILTERS = { clientId: text.meta({ description: 'Of this app only.' }), scope };

/** The filters of the accesses of one grant. */
export const GRANT_ACCESS_QUERY = { ...FILTERS, from: bound, to: bound };
/** The filters of accesses. */
export const ACCESS_QUERY = { ...GRANT_ACCESS_QUERY, grantId };
export const SUMMARY_QUERY = {
  ...FILTERS,
  ...DAY_RANGE_QUERY,
  grantId,
  timeZone: text.meta({ description: 'The IANA time zone of the days; UTC if absent.' }),
};
export const PREVIEW_QUERY = {
  scope,
  dataFrom: text.meta({
    format: 'date',
    description: 'First day that the app would see; absent: everything.',
  }),
};

/** `GET /partner/consent/accesses` and the same list of one grant: who read what, newest first. */
export async function listAccesses(gateway: Gateway, exchange: Exchange): Promise<void> {
  const ofGrant = pathParameter(exchange, 'id');
  const filters = ofGrant === '' ? ACCESS_QUERY : GRANT_ACCESS_QUERY;
  const query = readListQuery(exchange.request.originalUrl, filters);
  const filter = readAccessFilter(query);
  query.check();
  const { accesses, total } = await gateway.backends.accesses.listAccesses(
    { page: query.page, ...filter, ...(ofGrant === '' ? {} : { grantId: ofGrant }) },
    onBehalf(exchange),
  );
  sendJson(exchange.response, 200, toList(accesses.map(toAccessJson), query.page, total));
}

/** Reads the filters for accesses and reports invalid ones to the query. */
export function readAccessFilter(query: ListQuery) {
  const { from, to } = readPeriod(query);
  return {
    grantId: query.find('grantId') ?? '',
    clientId: query.find('clientId') ?? '',
    scope: readScope(query),
    ...(from === null ? {} : { from: timestampFromMs(from) }),
    ...(to === null ? {} : { to: timestampFromMs(to) }),
  };
}

/**
 * `GET /partner/consent/accesses/summary`: accesses by day and app, newest day first; the last 30 days by default. Days are those of
 * `timeZone`, by default UTC.
 */
export async function summarizeAccesses(gateway: Gateway, exchange: Exchange): Promise<void> {
  const query = readListQuery(exchange.request.originalUrl, SUMMARY_QUERY);
  const range = readDayRange(query);
  const scope = readScope(query);
  const timeZone = readTimeZone(query);
  query.check();
  // Adding up quarter hours costs many times as much as reading UTC days.
  if (timeZone !== '') await limitCostly(gateway, exchange, 'summaries', userOf(exchange));
  const { days } = await gateway.backends.accesses.listAccessDays(
    {
      ...range,
      scope,
      timeZone,
      grantId: query.find('grantId') ?? '',
      clientId: query.find('clientId') ?? '',
    },
    onBehalf(exchange),
  );
  const { page, pageSize } = query.page;
  const shown = days.slice((page - 1) * pageSize, page * pageSize);
  sendJson(exchange.response, 200, toList(shown.map(toAccessDayJson), query.page, days.length));
}

/** `GET /partner/consent/preview?scope=&dataFrom=`: the user's own data as an app with that grant would receive it. */
export async function showPreview(gateway: Gateway, exchange: Exchange): Promise<void> {
  const query = readQuery(exchange.request.originalUrl, PREVIEW_QUERY);
  const scope = readScope(query);
  if (query.find('scope') === undefined) query.fault('scope', 'is required');
  const dataFrom = query.find('dataFrom') ?? '';
  if (dataFrom !== '' && !isDate(dataFrom)) query.fault('dataFrom', 'must be a date (2026-03-01)');
  query.check();
  await limitCostly(gateway, exchange, 'previews', userOf(exchange));
  const { body } = await gateway.backends.previews.preview({ scope, dataFrom }, onBehalf(exchange));
  const headers = { 'Content-Type': 'application/json; charset=utf-8' };
  send(exchange.response, 200, headers, Buffer.from(body.buffer, body.byteOffset, body.byteLength));
}

/** `from` is inclusive, `to` exclusive, both in Unix milliseconds; null when absent. */
function readPeriod(query: ListQuery) {
  const [from, to] = [readTime(query, 'from'), readTime(query, 'to')];
  if (from !== null && to !== null && from >= to) query.fault('from', 'must be before "to"');
  return { from, to };
}

function readTime(query: ListQuery, name: string): number | null {
  const text = query.find(name);
  if (text === undefined) return null;
  const bound = findTimeBound(text);
  if (bound !== null) return bound.at.getTime();
  query.fault(name, 'must be a date (2026-03-01) or an RFC 3339 instant (2026-03-01T08:00:00Z)');
  return null;
}

/** The database's spelling of the name; empty when absent. */
function readTimeZone(query: ListQuery): string {
  const text = query.find('timeZone');
  if (text === undefined) return '';
  const timeZone = findTimeZone(text);
  if (timeZone === null) query.fault('timeZone', NO_TIME_ZONE);
  return timeZone ?? '';
}

function readScope(query: ListQuery): string {
  const text = query.find('scope');
  if (text === undefined) return '';
  if (!isScope(text)) query.fault('scope', `must be one of ${SCOPE_NAMES.join(', ')}`);
  return text;
}
