import type { EndpointScope } from '@phds/catalog/endpoints';
import { type FhirType, fhirPathOf, isFhirType, toPatientId } from '@phds/catalog/fhir/resource-types';
import {
  type FhirSearch,
  isFhirId,
  isNewestSearch,
  parseSearch,
  searchForId,
} from '@phds/catalog/fhir/search';
import { parseScopeList } from '@phds/catalog/scopes';
import type { FhirRequest, ReadRequest } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { AppError, invalidRequest, notFound, unavailable } from '@phds/service-kit/errors';
import type { ReaderIds } from '../public-ids.ts';
import type { AskedData } from '../release.ts';
import { findCursor, readById, readSearch, type SearchCursor, toContext } from './search.ts';

/** Throws INVALID_REQUEST for a bad parameter or a scope that cannot find anything, NOT_FOUND for an id that no resource can have. */
export function askFhir({ requestId, scope }: ReadRequest, sent: FhirRequest): AskedData {
  const { base, resourceType: type, id } = sent;
  if (!isFhirType(type)) throw notFound();
  const search = toSearch(type, sent);
  const judged = toJudged(scope, search);
  return {
    scopes: judged,
    endpoint: fhirPathOf(type, id !== ''),
    requestId,
    prepare: ({ userId, dataFrom, sub }, ids) => {
      if (sub === null) throw unavailable('the assertion does not name the person to the app');
      const cursor = toCursor(ids, userId, search);
      const isHeld = cursor === null || cursor.scopes.every((scope) => judged.includes(scope));
      const scopes = cursor?.scopes ?? judged;
      const patientId = toPatientId(sub);
      const request = { search, scopes, base, ids, userId, sub, patientId, dataFrom };
      const { startFrom, startBefore, endFrom, endBefore } = search.when;
      return {
        from: toText(startFrom ?? endFrom),
        to: toText(startBefore ?? endBefore),
        page: 1,
        takesTurn: !isNewestSearch(search),
        read: async (data) => {
          if (!isHeld) return new AppError('cursor_expired', EXPIRED);
          return id === '' ? readSearch(data, request, cursor) : readById(data, request);
        },
      };
    },
  };
}

const EXPIRED = 'Consent for a part of this search has ended. Start the search again.';

function toSearch(type: FhirType, { id, parameters, base, lenient }: FhirRequest): FhirSearch {
  if (id !== '') {
    if (!isFhirId(id)) throw notFound();
    return searchForId(type, id, base);
  }
  const named = parameters.map(({ name, value }) => [name, value] as const);
  const parsed = parseSearch(type, named, base, lenient);
  if ('search' in parsed) return parsed.search;
  throw invalidRequest(parsed.problems);
}

/** The scopes in catalog order. */
function toJudged(scope: string, search: FhirSearch): readonly EndpointScope[] {
  const { scopes, unknown } = parseScopeList(scope);
  if (scopes.length === 0 || unknown.length > 0 || !scopes.every((one) => search.scopes.includes(one)))
    throw invalidRequest('scope', 'does not open this request');
  return scopes;
}

function toCursor(ids: ReaderIds, userId: string, search: FhirSearch): SearchCursor | null {
  if (search.cursor === null) return null;
  const cursor = findCursor(ids, toContext(userId, search), search.cursor);
  if (cursor === null) throw invalidRequest('_cursor', 'is not a cursor of this search');
  return cursor;
}

function toText(time: number | null): string {
  return time === null ? '' : new Date(time).toISOString();
}
