import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { BadRequest } from './bad-request.ts';
import { refuse } from './error-answers.ts';

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/** The host name of a `Host` header; null when the header is invalid. */
function findHostname(host: string | undefined): string | null {
  const url = host === undefined ? null : URL.parse(`http://${host}`);
  return url === null || url.pathname !== '/' || url.username !== '' ? null : url.hostname;
}

/** Refuses requests to host names other than those of this machine and that of the issuer. */
export function limitHosts(issuer: string): RequestHandler {
  const hostnames = new Set([...LOOPBACK, new URL(issuer).hostname]);
  return (request, response, next) => {
    response.set({
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      'X-Frame-Options': 'DENY',
    });
    if (hostnames.has(findHostname(request.headers.host) ?? '')) return next();
    return refuse(response, 400, 'The development identity provider answers on localhost only.');
  };
}

/** Rejects forms of other sites, which must not sign anybody in or out. */
export function requireSameOrigin(request: Request, _response: Response, next: NextFunction): void {
  const { origin, host, 'sec-fetch-site': site } = request.headers;
  const foreign = origin !== undefined && origin !== `http://${host}`;
  if (foreign || site === 'cross-site') throw new BadRequest('The form was sent by another site.');
  next();
}
