import { FHIR_PREFIX, fhirTypeOf } from '@phds/catalog/fhir/resource-types';
import { costOf } from '@phds/catalog/fhir/search';
import type { Request, Response } from 'express';
import { sendDocument } from '../api/document-answer.ts';
import { type ApiCall, readApiCall } from '../api/routes.ts';
import {
  admit,
  countDataRequest,
  countFurther,
  handleDataRequest,
  readData,
  requireAllowance,
} from '../data-request.ts';
import { createExchange, type Exchange } from '../exchange.ts';
import { type ForcedRoute, throwForcedData } from '../forced-errors.ts';
import type { Gateway } from '../gateway.ts';
import { methodNotAllowed, urlTooLong } from '../http-error.ts';
import type { ErrorCode } from '../operation.ts';
import { FHIR_ERRORS } from './operations.ts';
import { FHIR_MEDIA_TYPE } from './outcome.ts';
import {
  type FhirRoute,
  findFhirRoute,
  isLenient,
  NO_FHIR_ROUTE,
  nameOf,
  noFhirRoute,
  parseFhirSearch,
  readFhirParameters,
} from './requests.ts';

/** Handles searches and reads of the FHIR interface: everything below its prefix but the public documents. */
export function createFhirHandler(gateway: Gateway): (request: Request, response: Response) => void {
  return (request, response) => {
    const call = readApiCall(request);
    const exchange = createExchange(gateway, request, response, call.authorization);
    const route = findFhirRoute(call.path);
    handleDataRequest(exchange, {
      routeOf: () => (route === null ? '' : nameOf(route)),
      nameOf: () => (route === null ? NO_FHIR_ROUTE : nameOf(route)),
      answer: () => answer(exchange, call, route),
    });
  };
}

/** The order of the checks decides which error a request gets. The parameters come before consent, because they say what is asked for. */
async function answer(exchange: Exchange, call: ApiCall, found: FhirRoute | null): Promise<void> {
  const { gateway, request, response, requestId } = exchange;
  const { PUBLIC_URL, MAX_URL_BYTES } = gateway.config;
  const counted = await countDataRequest(exchange);
  throwForcedData(exchange, call.force, counted, () =>
    toForcedRoute(requireRoute(call, found, MAX_URL_BYTES)),
  );
  const { who, allowance } = counted;
  const route = requireRoute(call, found, MAX_URL_BYTES);
  requireAllowance(allowance);
  const base = PUBLIC_URL + FHIR_PREFIX;
  const sent = await readFhirParameters(exchange, route);
  const lenient = isLenient(request);
  const search = parseFhirSearch(route, sent, base, lenient);
  const { type: resourceType, id } = route;
  if (id === '') await countFurther(exchange, counted, costOf(search) - 1);
  const { scopes } = search;
  const parameters = id === '' ? sent.map(([name, value]) => ({ name, value })) : [];
  const fhir = { base, resourceType, id, parameters, lenient };
  const jkt = exchange.provenKey;
  const toRequest = (scope: string) => ({ fhir, requestId, scope, jkt });
  const document = await readData(exchange, await admit(gateway, who, scopes), scopes, toRequest);
  const ifNoneMatch = route.method === 'GET' ? call.ifNoneMatch : undefined;
  const { headers } = exchange;
  sendDocument(response, { document, type: FHIR_MEDIA_TYPE, links: null, headers, ifNoneMatch });
}

function toForcedRoute(route: FhirRoute): ForcedRoute {
  const [scope = ''] = fhirTypeOf(route.type).scopes;
  const codes: readonly ErrorCode[] = route.id === '' ? [...FHIR_ERRORS, 'CURSOR_EXPIRED'] : FHIR_ERRORS;
  return { codes, scope, misspell: () => parseFhirSearch(route, [['dat', '2026']], '', false) };
}

function requireRoute(
  { path, method, url }: ApiCall,
  route: FhirRoute | null,
  maxUrlBytes: number,
): FhirRoute {
  if (url.length > maxUrlBytes) throw urlTooLong(maxUrlBytes);
  if (route === null) throw noFhirRoute(path);
  if (method !== route.method) throw methodNotAllowed(route.method);
  return route;
}
