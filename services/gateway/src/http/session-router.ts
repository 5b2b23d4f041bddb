import { Router } from 'express';
import { applyAllowance } from './allowance.ts';
import { exchangeOf } from './exchange.ts';
import type { Gateway } from './gateway.ts';

/** A router for people's surfaces. Without a session every path is answered alike, so that not even the routes are disclosed. */
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
