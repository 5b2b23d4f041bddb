import { notFound } from '@phds/service-kit/errors';
import type { Router } from 'express';
import { type Exchange, exchangeOf } from './exchange.ts';
import { methodNotAllowed } from './http-error.ts';

export type Handler = (exchange: Exchange) => Promise<void> | void;
export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';

interface MountedRoute {
  readonly method: Method;
  /** Relative to where the router is mounted. */
  readonly path: string;
}

const mounted = new WeakMap<Router, MountedRoute[]>();

/** The routes of a router that `mount` has made. Express itself keeps no methods of them. */
export function routesOf(router: Router): readonly MountedRoute[] {
  return mounted.get(router) ?? [];
}

/** Mounts handlers for the methods of one path. Other methods get 405 with `Allow` (Express alone would answer 404). */
export function mount(
  router: Router,
  path: string,
  methods: Readonly<Partial<Record<Method, Handler>>>,
): void {
  const names = Object.keys(methods) as Method[];
  mounted.set(router, [...routesOf(router), ...names.map((method) => ({ method, path }))]);
  const allow = names.join(', ');
  router.all(path, async (request, response) => {
    const exchange = exchangeOf(request, response);
    exchange.route = request.baseUrl + path;
    const { clientId } = request.params;
    exchange.appInPath = typeof clientId === 'string' ? clientId : undefined;
    const handler = methods[request.method as Method];
    if (handler === undefined) throw methodNotAllowed(allow);
    await handler(exchange);
  });
}

/** Answers 404 for everything that no earlier route matched. */
export function mountNotFound(router: Router): void {
  router.use(() => {
    throw notFound();
  });
}

/** A named path parameter; empty when the route has none. Throws `not_found` for values that cannot be an id. */
export function pathParameter({ request }: Exchange, name: string): string {
  const value = request.params[name] ?? '';
  if (typeof value !== 'string' || value.includes('\0')) throw notFound();
  return value;
}
