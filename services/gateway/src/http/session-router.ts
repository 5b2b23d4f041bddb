import { Router } from 'express';
import { exchangeOf } from './exchange.ts';
import type { Gateway } from './gateway.ts';

/** A router of a surface for people: who has no session learns nothing of it, not even which routes there are. */
export function createSessionRouter(gateway: Gateway): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.use(async (request, response, next) => {
    exchangeOf(request, response).session = await gateway.readSession(request);
    next();
  });
  return router;
}
