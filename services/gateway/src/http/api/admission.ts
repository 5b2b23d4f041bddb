import { AppError } from '@phds/service-kit/errors';
import type { Authenticated } from '../../cache/authenticator.ts';
import { judge } from '../../domain/principal.ts';
import type { Gateway } from '../gateway.ts';

type Judges = Pick<Gateway, 'authenticator' | 'clock'>;

const USERLESS = 'This token has no user. Use one from the authorization code flow.';

/**
 * Judges scope and consent and returns the facts used. If cached facts show no consent, authorization is asked again before
 * CONSENT_REQUIRED is returned, so that a new approval works at once.
 */
export async function admit(gateway: Judges, who: Authenticated, scope: string): Promise<Authenticated> {
  const now = gateway.clock.now().getTime();
  const judgement = judge(who.principal, scope, now);
  if (judgement === 'allowed') return who;
  if (judgement === 'consent_required' && who.fromCache && who.principal.userId !== '') {
    return admit(gateway, await gateway.authenticator.renew(who), scope);
  }
  const isUserless = judgement === 'consent_required' && who.principal.userId === '';
  throw new AppError(judgement, isUserless ? USERLESS : '', { requiredScope: scope });
}

/**
 * Calls health-data with the assertion. A stale assertion is renewed and the call repeated once. Facts that the record step has
 * refuted are dropped from the cache.
 */
export async function withAssertion<T>(
  gateway: Judges,
  who: Authenticated,
  scope: string,
  call: (assertion: string) => Promise<T>,
): Promise<T> {
  try {
    return await call(who.principal.assertion);
  } catch (error) {
    if (!(error instanceof AppError) || !REFUTED.has(error.reason)) throw error;
    gateway.authenticator.forget(who);
    if (error.reason !== 'assertion_stale') throw withScope(error, scope);
  }
  const renewed = await admit(gateway, await gateway.authenticator.renew(who), scope);
  try {
    return await call(renewed.principal.assertion);
  } catch (error) {
    if (error instanceof AppError && REFUTED.has(error.reason)) {
      gateway.authenticator.forget(renewed);
      throw withScope(error, scope);
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

function withScope(error: AppError, scope: string): AppError {
  if (error.reason !== 'consent_required' || error.requiredScope !== undefined) return error;
  return new AppError('consent_required', error.message, { requiredScope: scope });
}
