import type { Router } from 'express';
import type { Gateway } from '../gateway.ts';
import { mount, mountNotFound } from '../routing.ts';
import { createSessionRouter } from '../session-router.ts';
import { createAccessExport } from './access-export.ts';
import { listAccesses, showPreview, summarizeAccesses } from './accesses.ts';
import {
  getGrant,
  getReceipt,
  listConnectedApps,
  listGrants,
  narrowGrant,
  requestDeletion,
  revokeAllGrants,
  revokeGrant,
} from './grants.ts';
import { approve, deny, extend, getPending, listPending, release } from './pending-approvals.ts';
import { reportGrant, reportPending } from './reports.ts';
import { showSession } from './session.ts';

/** Everything under `/partner`. */
export function createPartnerRouter(gateway: Gateway): Router {
  const router = createSessionRouter(gateway);
  mount(router, '/session', { GET: showSession });
  mount(router, '/consent/pending', { GET: (exchange) => listPending(gateway, exchange) });
  mount(router, '/consent/pending/:id', { GET: (exchange) => getPending(gateway, exchange) });
  mount(router, '/consent/pending/:id/approve', { POST: (exchange) => approve(gateway, exchange) });
  mount(router, '/consent/pending/:id/deny', { POST: (exchange) => deny(gateway, exchange) });
  mount(router, '/consent/pending/:id/report', { POST: (exchange) => reportPending(gateway, exchange) });
  mount(router, '/consent/apps', { GET: (exchange) => listConnectedApps(gateway, exchange) });
  mount(router, '/consent/pending/:id/extend', { POST: (exchange) => extend(gateway, exchange) });
  mount(router, '/consent/pending/:id/release', { POST: (exchange) => release(gateway, exchange) });
  mount(router, '/consent/grants', { GET: (exchange) => listGrants(gateway, exchange) });
  // Registered before `:id`, which would also match it.
  mount(router, '/consent/grants/revoke-all', { POST: (exchange) => revokeAllGrants(gateway, exchange) });
  mount(router, '/consent/grants/:id', {
    GET: (exchange) => getGrant(gateway, exchange),
    PATCH: (exchange) => narrowGrant(gateway, exchange),
    DELETE: (exchange) => revokeGrant(gateway, exchange),
  });
  mount(router, '/consent/grants/:id/deletion-request', {
    POST: (exchange) => requestDeletion(gateway, exchange),
  });
  mount(router, '/consent/grants/:id/report', { POST: (exchange) => reportGrant(gateway, exchange) });
  mount(router, '/consent/grants/:id/receipt', { GET: (exchange) => getReceipt(gateway, exchange) });
  mount(router, '/consent/grants/:id/accesses', { GET: (exchange) => listAccesses(gateway, exchange) });
  mount(router, '/consent/accesses/summary', { GET: (exchange) => summarizeAccesses(gateway, exchange) });
  mount(router, '/consent/accesses.csv', { GET: createAccessExport(gateway) });
  mount(router, '/consent/accesses', { GET: (exchange) => listAccesses(gateway, exchange) });
  mount(router, '/consent/preview', { GET: (exchange) => showPreview(gateway, exchange) });
  mountNotFound(router);
  return router;
}
