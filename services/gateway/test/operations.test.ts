import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { API_PREFIX, ENDPOINTS } from '@phds/catalog/endpoints';
import { FakeClock } from '@phds/test-kit/fake-clock';
import { createRouters } from '../src/http/app.ts';
import type { Gateway } from '../src/http/gateway.ts';
import { OPERATIONS, toOpenApiDocument } from '../src/http/public/openapi-document.ts';
import { routesOf } from '../src/http/routing.ts';
import { SECURITY_EVENTS } from '../src/http/security-events.ts';

/** Pages and files for browsers. Nothing else may be missing in the document. */
const PAGES = [
  /^\/$/,
  /^\/(approve|apps|history|data|console|signed-in|assets|problems|docs)(\/|$)/,
  /^\/(page\.css|llms\.txt)$/,
  /^\/sign-in(\/callback)?$/,
];

const document = toOpenApiDocument({ PUBLIC_URL: 'https://health.test' });

test('the described operations are exactly the mounted routes', () => {
  const described = OPERATIONS.map(({ method, path }) => `${method} ${path}`);
  // The data API has no router. Every GET of a public document also answers HEAD and OPTIONS.
  const data = [...ENDPOINTS.map(({ path }) => API_PREFIX + path), '/api/versions'].map(
    (path) => `GET ${path}`,
  );
  const routes = mountedRoutes().filter(
    ({ method, path }) => !['HEAD', 'OPTIONS'].includes(method) && !PAGES.some((page) => page.test(path)),
  );
  const mounted = routes.map(({ method, path }) => `${method} ${path}`);
  expect(mounted.length).toBeGreaterThan(40);
  expect(described.sort()).toEqual([...data, ...mounted].sort());
});

test('every route of the security log exists', () => {
  const mounted = mountedRoutes().map(({ method, path }) => `${method} ${path}`);
  expect(mounted).toEqual(expect.arrayContaining(Object.keys(SECURITY_EVENTS)));
});

test('every operation has its own id and one of the tags', () => {
  const ids = OPERATIONS.map(({ operationId }) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
  const tags = document.tags.map(({ name }) => name);
  expect(new Set(OPERATIONS.map(({ tag }) => tag as string))).toEqual(new Set(tags));
});

describe('the copy of the document', () => {
  test('in packages/sdk is what the gateway serves, but for the address', () => {
    const file = new URL('../openapi.json', import.meta.url);
    const copy = readFileSync(file, 'utf8').replaceAll('https://health.example', 'https://health.test');
    expect(JSON.parse(copy)).toEqual(JSON.parse(JSON.stringify(document)));
  });
});

/** Building the routers asks no service. */
function mountedRoutes() {
  const gateway = {
    config: {
      PUBLIC_URL: 'https://health.test',
      WEB_DIRECTORY: '/nowhere',
      DOCS_DIRECTORY: '/nowhere',
      RECEIPT_PUBLIC_KEYS: { keys: [] },
    },
    clock: new FakeClock(new Date()),
    backends: {},
  } as unknown as Gateway;
  return createRouters(gateway).flatMap(({ prefix, router }) =>
    routesOf(router).map(({ method, path }) => ({ method, path: prefix === '/' ? path : prefix + path })),
  );
}
