import { AppError } from '@phds/service-kit/errors';
import type { Authenticated } from '../../cache/authenticator.ts';
import { judge } from '../../domain/principal.ts';
import type { Gateway } from '../gateway.ts';

type Judges = Pick<Gateway, 'authenticator' | 'clock'>;

/**
 * Judges scope and consent by the facts at hand and answers the facts that were judged by. Remembered facts refuse nobody
 * for lack of consent: authorization is asked again first, so that an approval works at once.
 */
export async function admit(gateway: Judges, who: Authenticated, scope: string): Promise<Authenticated> {
  const now = gateway.clock.now().getTime();
  const judgement = judge(who.principal, scope, now);
  if (judgement === 'allowed') return who;
  if (judgement === 'consent_required' && who.fromCache && who.principal.userId !== '') {
    return admit(gateway, await gateway.authenticator.renew(who), scope);
  }
  throw new AppError(judgement, '', { requiredScope: scope });
}

/**
 * Calls the data service with the assertion. One that is out of date is renewed, and the call repeated once; facts that the
 * record step has refuted are forgotten.
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
