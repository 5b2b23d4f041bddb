import { systemClock } from '@phds/service-kit/clock';
import express, {
  type Express,
  type NextFunction,
  type Request,
  type RequestHandler,
  type Response,
  Router,
} from 'express';
import { errors, type InteractionResults, type Provider } from 'oidc-provider';
import { createOpenIdProvider, type OpenIdProviderOptions } from './openid-provider.ts';
import { renderErrorPage, renderHomePage, renderSignInPage } from './pages.ts';
import { BadRequest, createSessionIssuer, rememberUser, type UserDirectory } from './users.ts';

/** Sends the error as a page to browsers and as JSON to other clients. */
function refuse(response: Response, status: number, message: string): void {
  response.status(status);
  response.format({
    json: () => void response.json({ error: message }),
    html: () => void response.send(renderErrorPage(message)),
  });
}

function answerError(
  error: Error & { status?: number },
  request: Request,
  response: Response,
  next: NextFunction,
) {
  if (response.headersSent) return next(error);
  if (error instanceof BadRequest) return refuse(response, 400, error.message);
  if (error instanceof errors.SessionNotFound)
    return refuse(response, 400, 'This sign-in is over, or it was started in another browser. Start again.');
  const isClientError = error.status !== undefined && error.status < 500;
  if (isClientError)
    return refuse(response, error.status ?? 400, 'The body cannot be read as JSON or as a form.');
  console.error(`${request.method} ${request.path}: ${error.stack}`);
  return refuse(response, 500, 'Something went wrong; see the log.');
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/** The host name of a `Host` header; null when the header is invalid. */
function findHostname(host: string | undefined): string | null {
  const url = host === undefined ? null : URL.parse(`http://${host}`);
  return url === null || url.pathname !== '/' || url.username !== '' ? null : url.hostname;
}

/** Refuses requests to host names other than those of this machine and that of the issuer. */
function limitHosts(issuer: string): RequestHandler {
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
function requireSameOrigin(request: Request, _response: Response, next: NextFunction): void {
  const { origin, host, 'sec-fetch-site': site } = request.headers;
  const foreign = origin !== undefined && origin !== `http://${host}`;
  if (foreign || site === 'cross-site') throw new BadRequest('The form was sent by another site.');
  next();
}

/** The page of a sign-in in progress, at which people pick who they are, and the form that it sends. */
function createInteraction(provider: Provider, users: UserDirectory): Router {
  const router = Router();
  const form = express.urlencoded({ extended: false });
  router.get('/interaction/:uid', async (request, response) => {
    const { session, uid } = await provider.interactionDetails(request, response);
    const signedInAs = session?.accountId ?? null;
    response.send(renderSignInPage({ users: users.list(), signedInAs, action: `/interaction/${uid}` }));
  });
  router.post('/interaction/:uid', requireSameOrigin, form, async (request, response) => {
    const { user, cancel } = request.body ?? {};
    const result: InteractionResults =
      cancel === undefined
        ? {
            login: { accountId: await rememberUser(users, user) },
            // Answers both prompts at once: the page is the same.
            select_account: {},
          }
        : { error: 'access_denied', error_description: 'the person cancelled the sign-in' };
    await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  });
  return router;
}

/**
 * Replaces the host application's identity provider during development: an OpenID provider at which anybody can sign in as anybody. It
 * answers on loopback host names and on the host name of its issuer only, so that no web page can reach it through a DNS name of its
 * own.
 */
export function createIdentityProvider(options: OpenIdProviderOptions): Express {
  const { issuer, clientId, privateKeyPem, users, client } = options;
  const issue = createSessionIssuer({ issuer, audience: clientId, privateKeyPem, clock: systemClock });
  const provider = createOpenIdProvider(options);

  const app = express().disable('x-powered-by').disable('etag');
  app.use(limitHosts(issuer));
  app.get('/readyz', (_request, response) => void response.json({ status: 'ready' }));
  app.get('/users', (_request, response) => void response.json({ users: users.list() }));
  // Ignores the Content-Type, because curl sets a misleading one by default.
  app.post('/sessions', express.json({ type: () => true }), async (request, response) => {
    const id = await rememberUser(users, request.body?.user);
    const { token, expiresAt } = await issue({ id, name: users.nameOf(id) });
    response.json({ token, expiresAt: expiresAt.toISOString() });
  });

  app.get('/', (_request, response) => void response.send(renderHomePage(client.gatewayUrls[0] ?? '')));
  app.use(createInteraction(provider, users));
  app.post('/session/end/confirm', requireSameOrigin);
  app.use(provider.callback());
  app.use(answerError);
  return app;
}
