import { type Clock, systemClock } from '@phds/service-kit/clock';
import { createSessionVerifier } from '@phds/service-kit/session';
import type { Express, NextFunction, Request, Response } from 'express';
import express from 'express';
import { findHostname, findReturnUrl, isLoopback } from './loopback.ts';
import { createSessionIssuer, SESSION_SECONDS } from './session-issuer.ts';
import { renderErrorPage, renderSignInPage } from './sign-in-page.ts';
import { isUserId, type UserDirectory } from './user-directory.ts';

export interface IdentityProviderOptions {
  /** `iss` of the sessions: the provider's own public URL. */
  readonly issuer: string;
  readonly audience: string;
  readonly privateKeyPem: string;
  /** JWKS text. */
  readonly publicKeys: string;
  readonly users: UserDirectory;
  readonly clock?: Clock;
}

const COOKIE = 'session';
const COOKIE_SETTINGS = { httpOnly: true, sameSite: 'lax', path: '/' } as const;
const MAX_BODY_BYTES = 16 * 1024;

/** An error that the caller can correct. */
class BadRequest extends Error {}

/**
 * Replaces the host application's identity provider during development: anybody can sign in as anybody. It answers on loopback host
 * names only, so that no web page can reach it through a DNS name of its own.
 */
export function createIdentityProvider(options: IdentityProviderOptions): Express {
  const { issuer, audience, privateKeyPem, publicKeys, users, clock = systemClock } = options;
  const issue = createSessionIssuer({ issuer, audience, privateKeyPem, clock });
  const verify = createSessionVerifier({ issuer, audience, jwks: publicKeys, clock });
  const signIn = async (user: unknown) => {
    const userId = parseUserId(user);
    await users.remember(userId);
    return issue(userId);
  };

  const app = express().disable('x-powered-by').disable('etag');
  app.use(refuseForeignHosts);
  app.get('/readyz', (_request, response) => void response.json({ status: 'ready' }));
  app.get('/.well-known/jwks.json', (_request, response) => void response.json(JSON.parse(publicKeys)));
  app.get('/users', (_request, response) => void response.json({ users: users.list() }));
  // Ignores the Content-Type, because curl sets a misleading one by default.
  app.post(
    '/sessions',
    express.json({ limit: MAX_BODY_BYTES, type: () => true }),
    async (request, response) => {
      const { token, expiresAt } = await signIn(request.body?.user);
      response.json({ token, expiresAt: expiresAt.toISOString() });
    },
  );

  const form = express.urlencoded({ extended: false, limit: MAX_BODY_BYTES });
  app.get('/', async (request, response) => {
    const returnTo = parseReturnTo(request.query['return_to'], request);
    const signedInAs = await verify(findCookie(request) ?? '').then(
      (session) => session.userId,
      () => null,
    );
    response.send(renderSignInPage({ users: users.list(), signedInAs, returnTo }));
  });
  app.post('/sign-in', requireSameOrigin, form, async (request, response) => {
    const returnTo = parseReturnTo(request.body?.return_to, request);
    const { token } = await signIn(request.body?.user);
    response.cookie(COOKIE, token, { ...COOKIE_SETTINGS, maxAge: SESSION_SECONDS * 1000 });
    response.redirect(303, returnTo ?? '/');
  });
  app.post('/sign-out', requireSameOrigin, form, (request, response) => {
    const returnTo = parseReturnTo(request.body?.return_to, request);
    response.clearCookie(COOKIE, COOKIE_SETTINGS);
    response.redirect(303, returnTo === null ? '/' : `/?return_to=${encodeURIComponent(returnTo)}`);
  });
  app.use((_request, response) => void refuse(response, 404, 'There is no such page.'));
  app.use(answerError);
  return app;
}

function refuseForeignHosts(request: Request, response: Response, next: NextFunction): void {
  response.set({
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
  });
  if (isLoopback(findHostname(request.headers.host) ?? '')) next();
  else refuse(response, 400, 'The development identity provider answers on localhost only.');
}

/** Rejects forms of other sites, which must not sign anybody in or out. */
function requireSameOrigin(request: Request, _response: Response, next: NextFunction): void {
  const { origin, host, 'sec-fetch-site': site } = request.headers;
  const foreign = origin !== undefined && origin !== `http://${host}`;
  if (foreign || site === 'cross-site') throw new BadRequest('The form was sent by another site.');
  next();
}

function parseUserId(user: unknown): string {
  if (typeof user === 'string' && isUserId(user)) return user;
  throw new BadRequest(
    'user must be an id of 1 to 64 letters, digits, ".", "_", "@" or "-", such as {"user": "ada"}.',
  );
}

function parseReturnTo(text: unknown, request: Request): string | null {
  if (text === undefined || text === '') return null;
  const hostname = findHostname(request.headers.host) ?? '';
  const url = typeof text === 'string' ? findReturnUrl(text, hostname) : null;
  if (url === null)
    throw new BadRequest(`return_to must be an http URL on ${hostname}: the session reaches nothing else.`);
  return url.href;
}

function findCookie(request: Request): string | null {
  const pairs = (request.headers.cookie ?? '').split('; ');
  return pairs.find((pair) => pair.startsWith(`${COOKIE}=`))?.slice(COOKIE.length + 1) ?? null;
}

function answerError(
  error: Error & { status?: number },
  request: Request,
  response: Response,
  next: NextFunction,
) {
  if (response.headersSent) return next(error);
  if (error instanceof BadRequest) return refuse(response, 400, error.message);
  const isClientError = error.status !== undefined && error.status < 500;
  if (isClientError)
    return refuse(response, error.status ?? 400, 'The body cannot be read as JSON or as a form.');
  console.error(`${request.method} ${request.path}: ${error.stack}`);
  return refuse(response, 500, 'Something went wrong; see the log.');
}

/** Sends the error as a page to browsers and as JSON to other clients. */
function refuse(response: Response, status: number, message: string): void {
  response.status(status);
  response.format({
    json: () => void response.json({ error: message }),
    html: () => void response.send(renderErrorPage(message)),
  });
}
