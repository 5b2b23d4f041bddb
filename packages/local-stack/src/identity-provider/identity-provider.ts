import { systemClock } from '@phds/service-kit/clock';
import type { Express } from 'express';
import express from 'express';
import { answerError } from './error-answers.ts';
import { createInteraction } from './interaction.ts';
import { limitHosts, requireSameOrigin } from './loopback.ts';
import { createOpenIdProvider, type OpenIdProviderOptions } from './openid-provider.ts';
import { renderHomePage } from './pages.ts';
import { createSessionIssuer } from './session-issuer.ts';
import { rememberUser } from './user-directory.ts';

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
