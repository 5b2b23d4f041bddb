/**
 * A request for the data of a person, from its arrival to its answer: the same for the data API and for the FHIR interface. The order of
 * the steps in `answer` decides which error a request gets. What differs between the two is in their `DataSurface`.
 *
 * Consent is judged here by facts that may be a minute old, only to refuse early. Whether data is released is decided by the record
 * step, behind the read.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ReadResponse } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { AppError, toAppError, unauthorized } from '@phds/service-kit/errors';
import { isSecret } from '@phds/service-kit/secrets';
import { readProof, type UnverifiedProof } from '@phds/service-kit/trust/dpop';
import type { Request, Response } from 'express';
import {
  type Authenticated,
  ExpiredToken,
  findPresentedToken,
  type Principal,
  RefusedToken,
  UnprovenToken,
} from '../cache/access-tokens.ts';
import { ClientGone, type Read } from '../clients/batched-calls.ts';
import { type Allowance, type Limits, limitFields } from '../limits/limits.ts';
import { addToRequestLog, createExchange, type Exchange, withinRequest } from './exchange.ts';
import { type ForcedRoute, throwForcedData } from './forced-errors.ts';
import type { Gateway } from './gateway.ts';
import { meaningOf, urlTooLong } from './http-error.ts';
import { splitUrl } from './query.ts';
import { refuse } from './refusal.ts';
import type { Headers } from './respond.ts';

/** What a path asks for. */
export interface DataRoute {
  /** In metrics. */
  readonly pattern: string;
  /** In access records, app usage and the log. The path is the caller's own text and may contain a secret. */
  readonly name: string;
}

/** One of the two interfaces of data. */
export interface DataSurface<Route extends DataRoute> {
  /** The media type of its documents. */
  readonly type: string;
  /** Header fields of all answers to authenticated requests, before and after those of the limit. */
  readonly headers: { readonly before: Headers; readonly after: Headers };
  /** The name of all paths without a route. */
  readonly noRoute: string;
  readonly findRoute: (path: string) => Route | null;
  /** Throws what is wrong with version, path or method. */
  readonly requireRoute: (call: DataCall, route: Route | null) => Route;
  /** What an authenticated request asks for. */
  readonly ask: (exchange: Exchange, call: DataCall, route: Route) => Asked | Promise<Asked>;
  /** The errors that a request of a sandbox can ask for. */
  readonly toForced: (route: Route) => ForcedRoute;
}

export interface Asked {
  /** One of them opens the request. Errors name the first. */
  readonly scopes: readonly string[];
  /** In points of the limits. */
  readonly cost: number;
  /** Returns what to read. Throws `invalid_request` for parameters that are checked after consent. */
  readonly parse: () => AskedRead;
}

interface AskedRead extends Pick<Read, 'isNewestSearch'> {
  /** `scope` is what is consented of the scopes, separated by spaces. */
  readonly toRequest: (scope: string) => Read['request'];
  /** The page of a list, for `Link`; null for others. */
  readonly links: PageOfList | null;
}

/** The parts of a request that the data interfaces use. */
export interface DataCall {
  readonly method: string;
  readonly url: string;
  readonly path: string;
  readonly rawQuery: string;
  readonly authorization: readonly string[];
  /** Value of `API-Version`; several fields are joined by a comma. */
  readonly version: string | undefined;
  readonly ifNoneMatch: string | undefined;
  /** Value of `Sandbox-Force`, used in a sandbox deployment only. */
  readonly force: string | undefined;
}

function readCall({ method = '', url = '', headersDistinct: fields }: IncomingMessage): DataCall {
  return {
    method,
    url,
    ...splitUrl(url),
    authorization: fields['authorization'] ?? [],
    version: fields['api-version']?.join(', '),
    ifNoneMatch: fields['if-none-match']?.join(', '),
    force: fields['sandbox-force']?.join(', '),
  };
}

/** Handles everything of a data interface: answers a request, measures it, and notes it in the log and the usage of the app. */
export function createDataHandler<Route extends DataRoute>(
  gateway: Gateway,
  surface: DataSurface<Route>,
): (request: Request, response: Response) => void {
  return (request, response) => {
    const call = readCall(request);
    const route = surface.findRoute(call.path);
    const exchange = createExchange(gateway, request, response, call.authorization);
    const { requestId } = exchange;
    exchange.route = route?.name ?? surface.noRoute;
    const routeOf = () => route?.pattern ?? '';
    gateway.measure(request, response, routeOf);
    void withinRequest({ request, response, requestId, routeOf }, () =>
      answer(exchange, call, route, surface)
        .then(
          () => note(exchange),
          (caught: unknown) => refuseData(exchange, caught),
        )
        .catch((err: unknown) => gateway.log.error({ requestId, err }, 'answering failed')),
    );
  };
}

async function answer<Route extends DataRoute>(
  exchange: Exchange,
  call: DataCall,
  found: Route | null,
  surface: DataSurface<Route>,
): Promise<void> {
  const { gateway, response, requestId } = exchange;
  const { limits, config } = gateway;

  const who = await authenticate(exchange);

  // Every authenticated request counts. That it exceeds the limit is said after what is wrong with version, path and method.
  const allowance = await take(limits, who.principal);
  const { before, after } = surface.headers;
  exchange.headers = { ...before, ...limitFields(allowance), 'X-Request-Id': requestId, ...after };

  const requireRoute = (): Route => {
    if (call.url.length > config.MAX_URL_BYTES) throw urlTooLong(config.MAX_URL_BYTES);
    return surface.requireRoute(call, found);
  };
  if (call.force !== undefined && config.SANDBOX && allowance.allowed) {
    throwForcedData(exchange, call.force, () => surface.toForced(requireRoute()));
  }
  const route = requireRoute();
  limits.require(allowance);

  const asked = await surface.ask(exchange, call, route);
  if (asked.cost > 1) {
    const further = await take(limits, who.principal, asked.cost - 1);
    exchange.headers = { ...exchange.headers, ...limitFields(further) };
    limits.require(further);
  }

  const admitted = await admit(gateway, who, asked.scopes);
  const { links, ...wanted } = asked.parse();
  const document = await read(exchange, admitted, asked.scopes, wanted);

  const { type } = surface;
  const { headers } = exchange;
  const ifNoneMatch = call.method === 'GET' ? call.ifNoneMatch : undefined;
  sendDocument(response, { document, type, headers, path: call.path, links, ifNoneMatch });
}

function note(exchange: Exchange): void {
  const { gateway, requestId, route, startedAt } = exchange;
  addToRequestLog(exchange, null);
  gateway.log.debug({ requestId, route, ms: performance.now() - startedAt }, 'data');
}

async function refuseData(exchange: Exchange, caught: unknown): Promise<void> {
  const { gateway, requestId, clientId, route: endpoint } = exchange;
  // No failure of ours, and no refusal, because nothing was answered.
  if (caught instanceof ClientGone) {
    return gateway.log.debug({ requestId, route: endpoint }, 'the client hung up');
  }
  const error = toAppError(caught);
  if (clientId !== undefined) {
    const { status } = meaningOf(error);
    const isWithoutKey = error instanceof UnprovenToken;
    const grantId = error instanceof UnreadRefusal ? error.grantId : '';
    gateway.refusals.add({ clientId, endpoint, status, isWithoutKey, grantId });
  }
  const code = await refuse(exchange, error);
  if (code !== null) addToRequestLog(exchange, code);
}

/**
 * Authenticates a request by its access token: `Bearer`, or `DPoP` with a proof that the app holds the key to which the token is bound (RFC
 * 9449). A proof is compared with request and token first, so that only a proof for a known token costs the check of a signature, and only a
 * signed one is remembered as used. Throws the errors of `AccessTokens.authenticate`; `token_expired` only after a right proof.
 */
export async function authenticate(exchange: Exchange): Promise<Authenticated> {
  const { gateway, authorization } = exchange;
  const presented = findPresentedToken(authorization);
  if (presented === null) throw unauthorized('not one access token');
  const { token, scheme } = presented;
  const proof = scheme === 'bearer' ? null : findProofOf(exchange, token);
  const who = await gateway.accessTokens.authenticate(token).catch(async (error: unknown) => {
    if (error instanceof ExpiredToken) await confirm(exchange, proof, error.jkt);
    throw error;
  });
  const { clientId, jkt } = who.principal;
  exchange.clientId = clientId;
  if (proof !== null || jkt !== '') await confirm(exchange, proof, jkt);
  return who;
}

/** The public URL of a request without its query: never from `Host`, which the client chooses. */
export function publicUrlOf({ gateway, request }: Exchange): string {
  return gateway.config.PUBLIC_URL + (request.originalUrl ?? request.url).split('?', 1)[0];
}

function findProofOf(exchange: Exchange, accessToken: string): UnverifiedProof {
  if (!isSecret('access_token', accessToken)) throw unauthorized('not an access token');
  const { gateway, request } = exchange;
  // Several fields are joined with commas, which no proof contains.
  const { dpop: text } = request.headers;
  if (typeof text !== 'string') throw unauthorized('no DPoP proof');
  const { method = '' } = request;
  const subject = { method, url: publicUrlOf(exchange), accessToken, now: gateway.clock.now() };
  const proof = readProof(text, subject);
  if ('fault' in proof) throw unauthorized(`the DPoP proof: ${proof.fault}`);
  return proof;
}

/** Throws unless the key to which the token is bound was proved now, or it is a bearer token. `jkt` is empty for that. */
async function confirm(exchange: Exchange, proof: UnverifiedProof | null, jkt: string): Promise<void> {
  if (proof === null) {
    if (jkt !== '') throw new UnprovenToken('a bound token was presented as a bearer token');
    return;
  }
  if (jkt === '') throw new RefusedToken('a token that is not bound was presented with the scheme DPoP');
  if (proof.jkt !== jkt) throw new UnprovenToken('the DPoP proof is for another key than that of the token');
  if (!proof.isSigned()) throw new UnprovenToken('the DPoP proof is not signed by its key');
  if (!(await exchange.gateway.usedProofs.add(proof.id))) {
    throw new UnprovenToken('the DPoP proof was used before');
  }
  exchange.provenKey = proof.jkt;
}

/**
 * Takes from the limit of the app and the person, then from the person's over all apps, then from the app's. A limit that refuses stops the
 * sequence: one app cannot use up a person's limit over all apps, and one person or leaked token cannot use up the app's limit. Returns the
 * state of the first limit, or of the one that refused. A userless token has no limit over all apps.
 */
async function take(limits: Limits, { clientId, userId }: Principal, further?: number): Promise<Allowance> {
  const appUser = await limits.take('app-user', `${clientId}:${userId}`, further);
  if (!appUser.allowed) return appUser;
  if (userId !== '') {
    const allApps = await limits.take('user-all-apps', userId, further);
    if (!allApps.allowed) return allApps;
  }
  const app = await limits.take('app', clientId, further);
  return app.allowed ? appUser : app;
}

/** The facts by which a request was admitted, and the scope or scopes that open it, separated by spaces. */
interface Admitted extends Authenticated {
  readonly scope: string;
}

/** A refusal for lack of consent before anything was read, so that no access record tells the person of it. */
class UnreadRefusal extends AppError {
  readonly grantId: string;

  constructor(grantId: string, message: string, required: { readonly requiredScope: string }) {
    super('consent_required', message, required);
    this.grantId = grantId;
  }
}

const USERLESS = 'This token has no user. Use one from the authorization code flow.';

/**
 * Judges scope and consent, and returns what opens the request with the facts used. If cached facts show no consent, authorization is asked
 * again before CONSENT_REQUIRED is returned, so that a new approval works at once.
 */
async function admit(
  gateway: Pick<Gateway, 'accessTokens' | 'clock'>,
  who: Authenticated,
  wanted: readonly string[],
): Promise<Admitted> {
  const { principal, fromCache } = who;
  const { scope, refusal } = choose(principal, wanted, gateway.clock.now().getTime());
  if (scope !== '') return { ...who, scope };
  const lacksConsent = refusal === 'consent_required';
  if (lacksConsent && fromCache && principal.userId !== '') {
    return admit(gateway, await gateway.accessTokens.renew(who), wanted);
  }
  const message = lacksConsent && principal.userId === '' ? USERLESS : '';
  const required = { requiredScope: wanted[0] ?? '' };
  throw lacksConsent
    ? new UnreadRefusal(principal.grantId, message, required)
    : new AppError(refusal, message, required);
}

/** Those of the scopes that are consented, empty for none, and the error for none. */
function choose(principal: Principal, scopes: readonly string[], now: number) {
  let refusal: 'insufficient_scope' | 'consent_required' = 'insufficient_scope';
  let scope = '';
  for (const candidate of scopes) {
    if (!principal.scopes.has(candidate)) continue;
    if (isConsented(principal, candidate, now)) scope += scope === '' ? candidate : ` ${candidate}`;
    else refusal = 'consent_required';
  }
  return { scope, refusal };
}

/** Whether the known facts allow a scope of the token. Revocation is decided by the record step, not here. */
function isConsented({ userId, ledgerChecked, grant }: Principal, scope: string, now: number): boolean {
  if (userId === '') return false;
  if (!ledgerChecked) return true;
  return grant?.active === true && now < grant.expiresAt && grant.scopes.has(scope);
}

/**
 * Reads data for an admitted request. The facts are renewed and the read repeated once if the assertion is stale, or if there is no consent
 * to one of several scopes. Facts that the record step has refuted are dropped from the cache.
 */
async function read(
  { gateway, response }: Exchange,
  admitted: Admitted,
  wanted: readonly string[],
  { toRequest, ...more }: Omit<AskedRead, 'links'>,
): Promise<ReadResponse> {
  const { clientId } = admitted.principal;
  const isWanted = () => !response.destroyed;
  const readOnce = ({ principal: { assertion }, scope }: Admitted) =>
    gateway.backends.readData({ ...more, request: toRequest(scope), assertion, clientId, isWanted });
  try {
    return await readOnce(admitted);
  } catch (error) {
    if (!(error instanceof AppError) || !REFUTED.has(error.reason)) throw error;
    gateway.accessTokens.forget(admitted);
    const mayChooseAgain = error.reason === 'consent_required' && wanted.length > 1;
    if (error.reason !== 'assertion_stale' && !mayChooseAgain) throw withScope(error, wanted);
  }
  const renewed = await admit(gateway, await gateway.accessTokens.renew(admitted), wanted);
  try {
    return await readOnce(renewed);
  } catch (error) {
    if (!(error instanceof AppError) || !REFUTED.has(error.reason)) throw error;
    gateway.accessTokens.forget(renewed);
    throw withScope(error, wanted);
  }
}

const REFUTED: ReadonlySet<string> = new Set([
  'assertion_stale',
  'unauthorized',
  'token_expired',
  'consent_required',
]);

/** The error with the scope that the caller should ask for: the first of the request, whichever was judged. */
function withScope(error: AppError, [scope = '']: readonly string[]): AppError {
  if (error.reason !== 'consent_required' || error.requiredScope === scope) return error;
  return new AppError('consent_required', error.message, { requiredScope: scope });
}

interface DocumentAnswer {
  readonly document: ReadResponse;
  readonly type: string;
  readonly headers: Headers;
  readonly path: string;
  readonly links: PageOfList | null;
  readonly ifNoneMatch: string | undefined;
}

/** Sends a finished document unchanged, or 304 if the client has it. */
function sendDocument(response: ServerResponse, answered: DocumentAnswer): void {
  const { document, type, headers, path, links, ifNoneMatch } = answered;
  const { body, etag } = document;
  const fields: Record<string, string | number> = {
    ...headers,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ETag: etag,
  };
  if (links !== null) fields['Link'] = toLinks(path, links, document);
  if (ifNoneMatch !== undefined && matchesEntityTag(ifNoneMatch, etag)) {
    response.writeHead(304, fields);
    response.end();
    return;
  }
  fields['Content-Type'] = type;
  fields['Content-Length'] = body.length;
  response.writeHead(200, fields);
  response.end(body);
}

const TAG = /(?:W\/)?("[^"]*")/g;

/** Whether an `If-None-Match` value names this entity tag: weak comparison, a list, or `*` (RFC 9110 13.1.2). */
function matchesEntityTag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === etag || ifNoneMatch.trim() === '*') return true;
  const opaque = etag.startsWith('W/') ? etag.slice(2) : etag;
  for (const [, tag] of ifNoneMatch.matchAll(TAG)) if (tag === opaque) return true;
  return false;
}

interface PageOfList {
  /** The query without `page` and `updatedSince`. */
  readonly query: string;
  readonly page: number;
  readonly pageSize: number;
}

/**
 * The value of `Link` (RFC 8288), relative to the request: first, prev, next and last of a list; for changes, the same list behind the
 * cursor.
 */
function toLinks(path: string, { query, page, pageSize }: PageOfList, document: ReadResponse): string {
  const { total, nextCursor } = document;
  const base = `<${path}?${query === '' ? '' : `${query}&`}`;
  if (nextCursor !== '') return `${base}updatedSince=${nextCursor}>; rel="next"`;
  const last = Math.max(1, Math.ceil(total / pageSize));
  let links = `${base}page=1>; rel="first"`;
  if (page > 1) links += `, ${base}page=${Math.min(page - 1, last)}>; rel="prev"`;
  if (page < last) links += `, ${base}page=${page + 1}>; rel="next"`;
  return `${links}, ${base}page=${last}>; rel="last"`;
}
