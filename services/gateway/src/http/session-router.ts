import { Router } from 'express';
import { applyAllowance } from './allowance.ts';
import { exchangeOf } from './exchange.ts';
import type { Gateway } from './gateway.ts';

/** A router of a surface for people: who has no session learns nothing of it, not even which routes there are. */
export function createSessionRouter(gateway: Gateway): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.use(async (request, response, next) => {
    const session = await gateway.readSession(request);
    exchangeOf(request, response).session = session;
    applyAllowance(response, await gateway.surfaceLimits.takeForUser(session.userId, request.method));
    next();
  });
  return router;
}
