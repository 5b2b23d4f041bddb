import { AppError } from '@phds/service-kit/errors';
import type { Authenticated } from '../../cache/authenticator.ts';
import { type Judgement, judge } from '../../domain/principal.ts';
import type { Gateway } from '../gateway.ts';

type Judges = Pick<Gateway, 'authenticator' | 'clock'>;

const USERLESS = 'This token has no user. Use one from the authorization code flow.';

/** The facts by which a request was admitted, and the scope that opens it. */
export interface Admitted extends Authenticated {
  readonly scope: string;
}

/**
 * Judges scope and consent by the scopes of which each one opens the request, and returns the first that does, with the facts used.
 * If cached facts show no consent, authorization is asked again before CONSENT_REQUIRED is returned, so that a new approval works at
 * once. Errors name the first scope.
 */
export async function admit(
  gateway: Judges,
  who: Authenticated,
  scopes: readonly string[],
): Promise<Admitted> {
  const now = gateway.clock.now().getTime();
  let refusal: Exclude<Judgement, 'allowed'> = 'insufficient_scope';
  for (const scope of scopes) {
    const judgement = judge(who.principal, scope, now);
    if (judgement === 'allowed') return { ...who, scope };
    if (judgement === 'consent_required') refusal = judgement;
  }
  if (refusal === 'consent_required' && who.fromCache && who.principal.userId !== '') {
    return admit(gateway, await gateway.authenticator.renew(who), scopes);
  }
  const isUserless = refusal === 'consent_required' && who.principal.userId === '';
  throw new AppError(refusal, isUserless ? USERLESS : '', { requiredScope: scopes[0] ?? '' });
}

/**
 * Calls health-data with the assertion. The facts are renewed and the call repeated once if the assertion is stale, or if there is no
 * consent to the scope but another may open the request. Facts that the record step has refuted are dropped from the cache.
 */
export async function withAssertion<T>(
  gateway: Judges,
  who: Admitted,
  scopes: readonly string[],
  call: (assertion: string, scope: string) => Promise<T>,
): Promise<T> {
  try {
    return await call(who.principal.assertion, who.scope);
  } catch (error) {
    if (!(error instanceof AppError) || !REFUTED.has(error.reason)) throw error;
    gateway.authenticator.forget(who);
    const mayChooseAgain = error.reason === 'consent_required' && scopes.length > 1;
    if (error.reason !== 'assertion_stale' && !mayChooseAgain) throw withScope(error, scopes);
  }
  const renewed = await admit(gateway, await gateway.authenticator.renew(who), scopes);
  try {
    return await call(renewed.principal.assertion, renewed.scope);
  } catch (error) {
    if (error instanceof AppError && REFUTED.has(error.reason)) {
      gateway.authenticator.forget(renewed);
      throw withScope(error, scopes);
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

/** The error with the scope that the caller should ask for: the first that opens the request, whichever was judged. */
function withScope(error: AppError, scopes: readonly string[]): AppError {
  const [scope = ''] = scopes;
  if (error.reason !== 'consent_required' || error.requiredScope === scope) return error;
  return new AppError('consent_required', error.message, { requiredScope: scope });
}
