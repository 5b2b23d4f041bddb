import { type AppError, toAppError } from '@phds/service-kit/errors';
import { applyAllowance } from '../allowance.ts';
import type { Exchange } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import { sendTooMany } from './pages.ts';

/** Counts a step of a sign-in by address. Beyond the limit sends a page and returns false. */
export async function limitSignIns(
  { surfaceLimits }: Gateway,
  exchange: Exchange,
  step: 'begin' | 'finish',
): Promise<boolean> {
  const { request, response } = exchange;
  try {
    applyAllowance(response, await surfaceLimits.takeForSignIn(step, request.ip ?? ''));
    return true;
  } catch (caught) {
    const error: AppError = toAppError(caught);
    if (error.reason !== 'rate_limited') throw error;
    sendTooMany(exchange, error);
    return false;
  }
}
