import { AppError, toAppError } from '@phds/service-kit/errors';
import { type Authenticated, type Principal, UnprovenToken } from '../cache/access-tokens.ts';
import { ClientGone, type Read, type ReadData } from '../clients/batched-reads.ts';
import type { Allowance } from '../limits/limits.ts';
import type { Exchange } from './exchange.ts';
import type { Gateway } from './gateway.ts';
import { meaningOf } from './http-error.ts';
import { addToRequestLog, withinRequest } from './observation.ts';
import { authenticate } from './presented-token.ts';
import { refuse } from './refusal.ts';
import type { Headers } from './respond.ts';

// What the data API and the FHIR interface share: both answer for the access token of a person, with data of that person.

interface DataRequest {
  /** The pattern of the route; empty for none. */
  readonly routeOf: () => string;
  /** The name in app usage and the log. The path is the caller's own text and may contain a secret. */
  readonly nameOf: () => string;
  readonly answer: () => Promise<void>;
}

/** Answers a request, measures it, and notes it in the log and the usage of the app. */
export function handleDataRequest(exchange: Exchange, { routeOf, nameOf, answer }: DataRequest): void {
  const { gateway, request, response, requestId } = exchange;
  gateway.measure(request, response, routeOf);
  void withinRequest({ request, response, requestId, routeOf }, () =>
    answer()
      .then(
        () => noteData(exchange, nameOf()),
        (caught: unknown) => refuseData(exchange, nameOf(), caught),
      )
      .catch((err: unknown) => gateway.log.error({ requestId, err }, 'answering failed')),
  );
}

function noteData(exchange: Exchange, route: string): void {
  const { gateway, requestId, startedAt } = exchange;
  exchange.route = route;
  addToRequestLog(exchange, null);
  gateway.log.debug({ requestId, route, ms: performance.now() - startedAt }, 'data');
}

async function refuseData(exchange: Exchange, route: string, caught: unknown): Promise<void> {
  const { gateway, requestId, clientId } = exchange;
  exchange.route = route;
  // No failure of ours, and no refusal, because nothing was answered.
  if (caught instanceof ClientGone) return gateway.log.debug({ requestId, route }, 'the client hung up');
  const error = toAppError(caught);
  if (clientId !== undefined) {
    const isWithoutKey = error instanceof UnprovenToken;
    const grantId = error instanceof UnreadRefusal ? error.grantId : '';
    gateway.refusals.add({
      clientId,
      endpoint: route,
      status: meaningOf(error).status,
      isWithoutKey,
      grantId,
    });
  }
  const code = await refuse(exchange, error);
  if (code !== null) addToRequestLog(exchange, code);
}

/** Who asks, and what their limit says. */
export interface Counted {
  readonly who: Authenticated;
  readonly allowance: Allowance;
}

/**
 * Authenticates and counts a request. Every authenticated request counts and gets the limit's header fields, between those of its surface;
 * exceeding the limit is judged later, in its place in the order of checks.
 */
export async function countDataRequest(
  exchange: Exchange,
  { before = {}, after = {} }: { readonly before?: Headers; readonly after?: Headers } = {},
): Promise<Counted> {
  const who = await authenticate(exchange);
  const { clientId, userId } = who.principal;
  const allowance = await exchange.gateway.limits.take(clientId, userId);
  exchange.headers = {
    ...exchange.headers,
    ...before,
    'RateLimit-Policy': allowance.policy,
    RateLimit: allowance.state,
    'X-Request-Id': exchange.requestId,
    ...after,
  };
  return { who, allowance };
}

/** Counts what a request costs beyond one, once its parameters are known. Throws `rate_limited` if that is not left. */
export async function countFurther(exchange: Exchange, { who }: Counted, points: number): Promise<void> {
  if (points === 0) return;
  const { clientId, userId } = who.principal;
  const allowance = await exchange.gateway.limits.take(clientId, userId, points);
  const { policy, state } = allowance;
  exchange.headers = { ...exchange.headers, 'RateLimit-Policy': policy, RateLimit: state };
  requireAllowance(allowance);
}

/** Throws `rate_limited` beyond the limit. */
export function requireAllowance({ allowed, retryAfterSeconds }: Allowance): void {
  if (!allowed) throw new AppError('rate_limited', '', { retryAfterSeconds });
}

type Judges = Pick<Gateway, 'accessTokens' | 'clock'>;

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
 * again before CONSENT_REQUIRED is returned, so that a new approval works at once. Errors name the first scope.
 */
export async function admit(
  gateway: Judges,
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
  let refusal: Exclude<Judgement, 'allowed'> = 'insufficient_scope';
  let scope = '';
  for (const candidate of scopes) {
    const judgement = judge(principal, candidate, now);
    if (judgement === 'consent_required') refusal = judgement;
    if (judgement === 'allowed') scope += scope === '' ? candidate : ` ${candidate}`;
  }
  return { scope, refusal };
}

/** Whether a principal may read data that needs `scope`, according to the known facts. */
type Judgement = 'allowed' | 'insufficient_scope' | 'consent_required';

/** Judges scope, then consent. Revocation is decided by the record step, not here. */
function judge(principal: Principal, scope: string, now: number): Judgement {
  if (!principal.scopes.has(scope)) return 'insufficient_scope';
  if (principal.userId === '') return 'consent_required';
  if (!principal.ledgerChecked) return 'allowed';
  const { grant } = principal;
  const covered = grant?.active === true && now < grant.expiresAt && grant.scopes.has(scope);
  return covered ? 'allowed' : 'consent_required';
}

/**
 * Reads data for an admitted request. The facts are renewed and the read repeated once if the assertion is stale, or if there is no consent
 * to one of several scopes. Facts that the record step has refuted are dropped from the cache.
 */
export async function readData(
  { gateway, response }: Exchange,
  who: Admitted,
  wanted: readonly string[],
  toRequest: (scope: string) => Read['request'],
): ReturnType<ReadData> {
  const { clientId } = who.principal;
  const isWanted = () => !response.destroyed;
  const read = ({ principal: { assertion }, scope }: Admitted) =>
    gateway.backends.readData({ request: toRequest(scope), assertion, clientId, isWanted });
  try {
    return await read(who);
  } catch (error) {
    if (!(error instanceof AppError) || !REFUTED.has(error.reason)) throw error;
    gateway.accessTokens.forget(who);
    const mayChooseAgain = error.reason === 'consent_required' && wanted.length > 1;
    if (error.reason !== 'assertion_stale' && !mayChooseAgain) throw withScope(error, wanted);
  }
  const renewed = await admit(gateway, await gateway.accessTokens.renew(who), wanted);
  try {
    return await read(renewed);
  } catch (error) {
    if (error instanceof AppError && REFUTED.has(error.reason)) {
      gateway.accessTokens.forget(renewed);
      throw withScope(error, wanted);
    }
    throw error;
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
