import type { Router } from 'express';
import type { Gateway } from '../gateway.ts';
import { mount, mountNotFound } from '../routing.ts';
import { createSessionRouter } from '../session-router.ts';
import { changeApp, getApp, listApps, registerApp, rotateSecret, setStatus } from './apps.ts';
import { listRequests } from './requests.ts';
import { pullTrigger } from './sandbox.ts';
import { listUsage } from './usage.ts';
import {
  deleteWebhook,
  getWebhook,
  listDeliveries,
  putWebhook,
  redeliverEvent,
  rotateWebhookSecret,
  sendTestEvent,
} from './webhook.ts';

/** Everything under `/developer`. */
export function createDeveloperRouter(gateway: Gateway): Router {
  const router = createSessionRouter(gateway);
  mount(router, '/apps', {
    GET: (exchange) => listApps(gateway, exchange),
    POST: (exchange) => registerApp(gateway, exchange),
  });
  mount(router, '/apps/:clientId', {
    GET: (exchange) => getApp(gateway, exchange),
    PATCH: (exchange) => changeApp(gateway, exchange),
  });
  mount(router, '/apps/:clientId/rotate-secret', { POST: (exchange) => rotateSecret(gateway, exchange) });
  mount(router, '/apps/:clientId/status', { POST: (exchange) => setStatus(gateway, exchange) });
  mount(router, '/apps/:clientId/requests', { GET: (exchange) => listRequests(gateway, exchange) });
  mount(router, '/apps/:clientId/usage', { GET: (exchange) => listUsage(gateway, exchange) });
  mount(router, '/apps/:clientId/sandbox/triggers', { POST: (exchange) => pullTrigger(gateway, exchange) });
  mountWebhook(router, gateway);
  mountNotFound(router);
  return router;
}

function mountWebhook(router: Router, gateway: Gateway): void {
  const path = '/apps/:clientId/webhook';
  mount(router, path, {
    GET: (exchange) => getWebhook(gateway, exchange),
    PUT: (exchange) => putWebhook(gateway, exchange),
    DELETE: (exchange) => deleteWebhook(gateway, exchange),
  });
  mount(router, `${path}/rotate-secret`, { POST: (exchange) => rotateWebhookSecret(gateway, exchange) });
  mount(router, `${path}/test`, { POST: (exchange) => sendTestEvent(gateway, exchange) });
  mount(router, `${path}/deliveries`, { GET: (exchange) => listDeliveries(gateway, exchange) });
  mount(router, `${path}/deliveries/:id/redeliver`, {
    POST: (exchange) => redeliverEvent(gateway, exchange),
  });
}
