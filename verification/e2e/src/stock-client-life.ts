import { expect } from '@jest/globals';
import type { PartnerApp } from '@phds/running-system/partner-app';
import { type Answer, send } from '@phds/running-system/request';
import * as oauth from 'oauth4webapi';
import type { Browser } from './browser.ts';

export const HEART = 'read:health-data:heart';
const PROFILE = 'read:profile';
const HEART_PATH = '/api/v1/health-data/heart';

/** What a stock client keeps of an answer with tokens. */
export interface ClientTokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Undefined when the client does not pass on what it does not know. */
  readonly sub?: string | undefined;
}

/** An unmodified OAuth client. What it has no function for is undefined; the app then does it by a plain request. */
export interface StockClient {
  /** Sends the person to the approval screen and exchanges the code of the callback. */
  connect(scopes: readonly string[], decide: (url: string | URL) => Promise<URL>): Promise<ClientTokens>;
  refresh(tokens: ClientTokens): Promise<ClientTokens>;
  introspect?(tokens: ClientTokens): Promise<unknown>;
  /** Revokes the refresh token. */
  revoke?(tokens: ClientTokens): Promise<void>;
  /** Sends a request with an access token, which by default is a bearer token. */
  request?(accessToken: string, url: string, method: string): Promise<Answer>;
  /** A token of the app itself. */
  userless?(): Promise<string>;
  /** What the client throws when a refresh is refused with `invalid_grant`. */
  readonly invalidGrant: object;
}

interface Actors {
  readonly app: PartnerApp;
  readonly user: Browser;
}

/**
 * Plays the whole life of two grants with a client: authorize, exchange, read, introspect, refresh, list, revoke, and end by the app. Each
 * step uses the client where it has a function for it.
 */
export async function expectWholeLife(client: StockClient, { app, user }: Actors): Promise<void> {
  const share = (url: string | URL) => user.decide(url, { share: [HEART] });
  const request = (bearer: string, path: string, method = 'GET') =>
    client.request?.(bearer, app.gateway + path, method) ?? send(app.gateway + path, { bearer, method });
  const connected = await client.connect([HEART, PROFILE], share);
  expect((await request(connected.accessToken, HEART_PATH)).status).toBe(200);
  // Asked for, and not approved.
  expect(await codeOf(request(connected.accessToken, '/api/v1/profile'))).toBe('INSUFFICIENT_SCOPE');
  const introspected = await introspect(client, app, connected);
  expect(introspected).toMatchObject({ active: true, client_id: app.clientId, scope: HEART });
  const { sub, grant_id: grantId } = introspected;
  expect(connected.sub ?? sub).toBe(sub);

  const renewed = await client.refresh(connected);
  expect(renewed.accessToken).not.toBe(connected.accessToken);
  expect(renewed.sub ?? sub).toBe(sub);
  expect((await request(renewed.accessToken, HEART_PATH)).status).toBe(200);

  const own = (await client.userless?.()) ?? (await app.userlessToken());
  const grants = (path: string, method?: string) => request(own, `/oauth/grants${path}`, method);
  const listed = await grants(`?sub=${sub}`);
  expect(listed.body.data).toMatchObject([{ id: grantId, sub, scopes: [HEART], status: 'active' }]);

  await (client.revoke?.(renewed) ?? app.revoke(renewed.refreshToken));
  for (const tokens of [connected, renewed]) {
    expect((await request(tokens.accessToken, HEART_PATH)).status).toBe(401);
    expect(await introspect(client, app, tokens)).toEqual({ active: false });
  }
  await expect(client.refresh(renewed)).rejects.toMatchObject(client.invalidGrant);
  expect((await grants(`/${grantId}`)).body.data).toMatchObject({ status: 'active', ended_by: null });

  const again = await client.connect([HEART], share);
  expect((await introspect(client, app, again)).sub).toBe(sub);
  expect((await grants(`/${grantId}`, 'DELETE')).body.data).toMatchObject({ id: grantId, status: 'revoked' });
  expect((await request(again.accessToken, HEART_PATH)).status).toBe(401);
  await expect(client.refresh(again)).rejects.toMatchObject(client.invalidGrant);
  expect((await grants(`?sub=${sub}`)).body.data).toMatchObject([{ status: 'revoked', ended_by: 'app' }]);
}

async function introspect(
  client: StockClient,
  app: PartnerApp,
  tokens: ClientTokens,
): Promise<Answer['body']> {
  return client.introspect?.(tokens) ?? (await app.introspect(tokens.accessToken)).body;
}

async function codeOf(answer: Promise<Answer>): Promise<string> {
  return (await answer).body.code;
}

/** What a client received, also when it throws because of a challenge (RFC 9110 section 11.6.1). */
export async function toAnswer(received: Promise<Response>): Promise<Answer> {
  const isChallenge = (error: unknown) => error instanceof oauth.WWWAuthenticateChallengeError;
  const response = await received.catch((error) => {
    if (!isChallenge(error)) throw error;
    return error.response as Response;
  });
  const [{ status, headers }, text] = [response, await response.text()];
  return { status, headers, text, body: text === '' ? undefined : JSON.parse(text) };
}
