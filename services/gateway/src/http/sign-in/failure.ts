import { toAppError } from '@phds/service-kit/errors';
import { SignInFailure } from '../../clients/sign-in-failure.ts';
import type { SignInAttempt } from '../../domain/sign-in-attempt.ts';
import type { Exchange } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import { sendInvalid, sendNotConfirmed, sendRefused, sendTooLong, sendUnavailable } from './pages.ts';
import { sendBack } from './send-back.ts';

/**
 * Answers a sign-in that failed: with a page, or, if it was silent, by returning to where the person was, because they did not ask
 * for it. Logs codes and reasons only, never an answer of the provider.
 */
export function answerFailure(
  gateway: Gateway,
  exchange: Exchange,
  attempt: SignInAttempt,
  caught: unknown,
): void {
  const failure = toFailure(caught);
  const { requestId, route, response } = exchange;
  const { kind, detail } = failure;
  const line = { requestId, route, silent: attempt.silent, kind, detail };
  if (kind === 'refused') gateway.log.info(line, 'the provider refused a sign-in');
  else gateway.log.warn(line, 'sign-in failed');
  if (attempt.silent) sendBack(gateway.config, response, attempt);
  else if (kind === 'refused') sendRefused(exchange, attempt, detail);
  else if (kind === 'unavailable') sendUnavailable(exchange, attempt);
  else if (kind === 'too_long') sendTooLong(exchange);
  else if (kind === 'not_confirmed') sendNotConfirmed(exchange, attempt);
  else sendInvalid(exchange, attempt);
}

/** Our own verification of the ID token throws `unauthorized`, or `unavailable` when the provider's keys cannot be fetched. */
function toFailure(caught: unknown): SignInFailure {
  if (caught instanceof SignInFailure) return caught;
  const error = toAppError(caught);
  if (error.reason === 'unauthorized') return new SignInFailure('invalid', toReason(error.cause));
  if (error.reason === 'unavailable') return new SignInFailure('unavailable', 'keys_unreachable');
  throw error;
}

/** The verifier gives the reason as a text or as an error of jose, whose messages contain names of claims but no values. */
function toReason(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
