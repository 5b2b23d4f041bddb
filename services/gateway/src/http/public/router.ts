import { Router } from 'express';
import type { Exchange } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import { toServerMetadata } from '../oauth/metadata.ts';
import { sendStyle } from '../pages/page.ts';
import { send } from '../respond.ts';
import { type Method, mount } from '../routing.ts';
import { toCatalogDocument } from './catalog-document.ts';
import { toOpenApiDocument } from './openapi-document.ts';
import { answerPublicly } from './public-document.ts';

/** Routes that need no session: pages, public documents and probes. */
export function createPublicRouter(gateway: Gateway): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const document = (path: string, content: unknown) => {
    // The OpenAPI document is large, so it is written once.
    const json = Buffer.from(JSON.stringify(content));
    const answer = ({ request, response }: Exchange) => answerPublicly(response, request.method, json);
    const methods: Record<Extract<Method, 'GET' | 'HEAD' | 'OPTIONS'>, typeof answer> = {
      GET: answer,
      HEAD: answer,
      OPTIONS: answer,
    };
    mount(router, path, methods);
  };
  document('/.well-known/oauth-authorization-server', toServerMetadata(gateway));
  document('/.well-known/jwks.json', gateway.config.RECEIPT_PUBLIC_KEYS);
  document('/catalog.json', toCatalogDocument());
  document('/openapi.json', toOpenApiDocument(gateway.config));
  mount(router, '/page.css', { GET: ({ response }) => sendStyle(response) });
  mountProbes(router, gateway);
  return router;
}

function mountProbes(router: Router, { isReady }: Gateway): void {
  const plain = { 'Content-Type': 'text/plain; charset=utf-8' };
  mount(router, '/livez', { GET: ({ response }) => send(response, 200, plain, 'ok\n') });
  mount(router, '/readyz', {
    GET: async ({ response }) => {
      const ready = await isReady();
      send(response, ready ? 200 : 503, plain, ready ? 'ok\n' : 'not ready\n');
    },
  });
}
