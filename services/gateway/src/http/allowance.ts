import type { ServerResponse } from 'node:http';
import { AppError } from '@phds/service-kit/errors';
import type { Allowance } from '../limits/limit.ts';
import type { CostlyRequest } from '../limits/surface-limits.ts';
import type { Exchange } from './exchange.ts';
import type { Gateway } from './gateway.ts';

/** Tells the caller how it stands with a limit, on whatever is answered but the uniform 401. Throws `rate_limited` beyond the limit. */
export function applyAllowance(response: ServerResponse, allowance: Allowance): void {
  response.setHeader('RateLimit-Policy', allowance.policy);
  response.setHeader('RateLimit', allowance.state);
  if (!allowance.allowed) {
    throw new AppError('rate_limited', '', { retryAfterSeconds: allowance.retryAfterSeconds });
  }
}

/** Takes back what `applyAllowance` would tell, for answers that must look the same with and without it. */
export function withdrawAllowance(response: ServerResponse): void {
  response.removeHeader('RateLimit-Policy');
  response.removeHeader('RateLimit');
}

/** Takes a costly request from its own bucket, after the surface's; the answer names the own one. Throws `rate_limited` beyond the limit. */
export async function limitCostly(
  gateway: Gateway,
  { response }: Exchange,
  request: CostlyRequest,
  key: string,
): Promise<void> {
  applyAllowance(response, await gateway.surfaceLimits.takeForCostly(request, key));
}
