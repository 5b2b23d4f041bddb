import { type Request, type RequestHandler, Router } from 'express';
import { BadRequest } from './bad-request.ts';
import { findHostname, requireSameOrigin } from './loopback.ts';
import { renderSignInPage } from './pages.ts';
import { SESSION_SECONDS, type SessionIssuer } from './session-issuer.ts';
import { rememberUser, type UserDirectory } from './user-directory.ts';

/**
 * Signs people in without OpenID Connect, by a session cookie for this host name, for gateways with LOGIN_URL: `GET /?return_to=`
 * shows the people, and the form sets the cookie and returns.
 */
export function createReturnToSignIn(options: {
  readonly issue: SessionIssuer;
  readonly users: UserDirectory;
  readonly form: RequestHandler;
}): Router {
  const { issue, users, form } = options;
  const router = Router();
  router.get('/', (request, response, next) => {
    if (request.query['return_to'] === undefined) return next();
    const action = `/sign-in?return_to=${encodeURIComponent(parseReturnTo(request))}`;
    response.send(renderSignInPage({ users: users.list(), signedInAs: null, action }));
  });
  router.post('/sign-in', requireSameOrigin, form, async (request, response) => {
    const returnTo = parseReturnTo(request);
    if (request.body?.cancel !== undefined) return response.redirect(303, returnTo);
    const { token } = await issue(await rememberUser(users, request.body?.user));
    const settings = { httpOnly: true, sameSite: 'lax', path: '/', maxAge: SESSION_SECONDS * 1000 } as const;
    response.cookie('session', token, settings);
    response.redirect(303, returnTo);
  });
  return router;
}

/** An http URL on the host name of the page, because the cookie is limited to it (cookies ignore ports). */
function parseReturnTo({ query, headers }: Request): string {
  const hostname = findHostname(headers.host);
  const url = URL.parse(String(query['return_to']));
  const isOurs = url?.protocol === 'http:' && url.hostname === hostname && url.username === '';
  if (url === null || !isOurs)
    throw new BadRequest(`return_to must be an http URL on ${hostname}: the session reaches nothing else.`);
  return url.href;
}
