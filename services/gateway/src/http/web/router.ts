import { Router } from 'express';
import type { Gateway } from '../gateway.ts';
import { mount } from '../routing.ts';
import { mountWebFiles } from './web-files.ts';
import { loadWebPage } from './web-page.ts';

// The paths of packages/web/src/app.tsx. All of them serve the same document; the web app routes in the browser.
const PAGES = [
  '/',
  '/approve/:id',
  '/apps',
  '/apps/:id',
  '/history',
  '/data',
  '/console',
  '/console/:clientId',
  '/signed-in',
] as const;

/** Serves the web app: one document for all its paths and its assets. */
export function createWebRouter(gateway: Gateway): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const { config } = gateway;
  const sendWebPage = loadWebPage(config.WEB_DIRECTORY);
  for (const path of PAGES) mount(router, path, { GET: ({ response }) => sendWebPage(response) });
  mountWebFiles(router, config.WEB_DIRECTORY);
  return router;
}
