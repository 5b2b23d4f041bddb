import { Router } from 'express';
import type { Gateway } from '../gateway.ts';
import { redirect } from '../respond.ts';
import { mount } from '../routing.ts';
import { toSignInUrl } from './sign-in.ts';
import { signOut } from './sign-out.ts';
import { mountWebFiles } from './web-files.ts';
import { loadWebPage } from './web-page.ts';

// The paths of packages/web/src/app.tsx; which page one of them is, the web app knows.
const PAGES = [
  '/',
  '/approve/:id',
  '/apps',
  '/apps/:id',
  '/history',
  '/data',
  '/console',
  '/console/:clientId',
] as const;

/** The web app: one page under all its paths, its files, and the way to the sign-in of the host application. */
export function createWebRouter(gateway: Gateway): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const { config } = gateway;
  const sendWebPage = loadWebPage(config.WEB_DIRECTORY);
  for (const path of PAGES) mount(router, path, { GET: ({ response }) => sendWebPage(response) });
  mount(router, '/sign-in', {
    GET: ({ request, response }) => redirect(response, toSignInUrl(config, request.originalUrl)),
  });
  mount(router, '/sign-out', { POST: (exchange) => signOut(gateway, exchange) });
  mountWebFiles(router, config.WEB_DIRECTORY);
  return router;
}
