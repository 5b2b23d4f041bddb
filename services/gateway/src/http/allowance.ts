import type { ServerResponse } from 'node:http';
import { AppError } from '@phds/service-kit/errors';
import type { Allowance } from '../limits/limit.ts';

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
