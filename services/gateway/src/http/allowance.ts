import type { ServerResponse } from 'node:http';
import { AppError } from '@phds/service-kit/errors';
import type { Allowance, CostlyRequest } from '../limits/limits.ts';
import type { Exchange } from './exchange.ts';

/** Adds the rate limit header fields to the response. Not used for the uniform 401. Throws `rate_limited` beyond the limit. */
export function applyAllowance(response: ServerResponse, allowance: Allowance): void {
  response.setHeader('RateLimit-Policy', allowance.policy);
  response.setHeader('RateLimit', allowance.state);
  if (!allowance.allowed) {
    throw new AppError('rate_limited', '', { retryAfterSeconds: allowance.retryAfterSeconds });
  }
}

/** Removes the fields set by `applyAllowance`, for answers that must be identical with and without it. */
export function withdrawAllowance(response: ServerResponse): void {
  response.removeHeader('RateLimit-Policy');
  response.removeHeader('RateLimit');
}

/**
 * Counts a costly request against its own limit, after the limit of its surface. The header fields describe the costly limit.
 * Throws `rate_limited` beyond it.
 */
export async function limitCostly(
  { gateway, response }: Exchange,
  request: CostlyRequest,
  key: string,
): Promise<void> {
  applyAllowance(response, await gateway.surfaceLimits.takeForCostly(request, key));
}
