import { beforeAll, describe, expect, test } from '@jest/globals';
import { expectStatus, type PartnerApp, REDIRECT_URI, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { type Answer, type RequestOptions, send } from '@phds/running-system/request';
import { type SharedStack, useSharedStack } from '@phds/running-system/shared-stack';

const HEART = 'read:health-data:heart';
const MOOD = 'read:mood';
const PROFILE = 'read:profile';

let stack: SharedStack;
let app: PartnerApp;

beforeAll(async () => {
  stack = await useSharedStack();
  app = await registerApp(stack.gateway, await signIn(stack, 'developer'), { name: 'Pulse' });
});

let people = 0;
/** Signs in as a new person. */
function somebody(): Promise<string> {
  people += 1;
  return signIn(stack, `partner-open-requests-${people}`);
}

const pending = (bearer: string | undefined, path = '', options: RequestOptions = {}) =>
  send(`${stack.gateway}/partner/consent/pending${path}`, { bearer, ...options });
const codeOf = ({ status, body }: Answer): [number, string] => [status, body.code];

async function ask(scopes: readonly string[], parameters: Record<string, string> = {}): Promise<string> {
  return expectStatus(201, await app.authorize(scopes, parameters)).body.pending_id;
}

test('a request shows what an authenticated app needs and what is optional; without the secret, it shows neither', async () => {
  const scopes = [MOOD, HEART];
  const needs = async (id: string) => {
    const { requestedScopes } = expectStatus(200, await pending(await somebody(), `/${id}`)).body.data;
    return requestedScopes.map((each: Record<string, unknown>) => [each['scope'], each['need']]);
  };
  expect(await needs(await ask(scopes, { needed_scope: HEART }))).toEqual([
    [HEART, 'needed'],
    [MOOD, 'optional'],
  ]);
  const json = { client_id: app.clientId, redirect_uri: REDIRECT_URI, scope: scopes.join(' ') };
  const unproven = await send(`${stack.gateway}/oauth/authorize`, { json: { ...json, needed_scope: HEART } });
  expect(await needs(expectStatus(201, unproven).body.pending_id)).toEqual([
    [HEART, null],
    [MOOD, null],
  ]);
  const foreign = await app.authorize([MOOD], { needed_scope: HEART });
  expect([foreign.status, foreign.body.error]).toEqual([400, 'invalid_request']);
  expect(foreign.body.error_description).toContain('needed_scope');
});

describe('two tabs with different terms', () => {
  /** Opens a request, as in a tab of its own, and returns what the screen shows. */
  const openTab = async (user: string, scopes: string[]) => {
    const id = await ask(scopes);
    return { id, ...expectStatus(200, await pending(user, `/${id}`)).body.data };
  };
  const grantOf = async (user: string, id: string) =>
    expectStatus(200, await send(`${stack.gateway}/partner/consent/grants/${id}`, { bearer: user })).body
      .data;

  test('the tab that shows the old terms is refused and changes nothing, until it shows the new ones', async () => {
    const user = await somebody();
    const { grantId } = await app.connect(user, [HEART]);
    const [first, second] = [await openTab(user, [MOOD]), await openTab(user, [PROFILE])];
    expect(first.connection).toMatchObject({ grantId, appName: 'Pulse', scopes: [HEART], dataFrom: null });
    const { revision } = second;
    expectStatus(200, await app.approveAs(user, second.id, { keepExpiry: true, revision }));
    const before = await grantOf(user, grantId);
    const stale = await app.approveAs(user, first.id, { expiresInDays: 1, revision: first.revision });
    expect(codeOf(stale)).toEqual([409, 'CONFLICT']);
    expect(stale.body.detail).toContain('has changed since this page showed it');
    expect(await grantOf(user, grantId)).toEqual(before);
    const shown = expectStatus(200, await pending(user, `/${first.id}`)).body.data;
    expect(shown).toMatchObject({ status: 'pending', connection: { scopes: [HEART, PROFILE] } });
    const decision = { expiresInDays: 1, revision: shown.revision };
    const { data } = expectStatus(200, await app.approveAs(user, first.id, decision)).body;
    expect(data.grantId).toBe(grantId);
    expect((await app.approveAs(user, first.id, decision)).body.data).toEqual(data);
  });

  test('a tab that was opened before a narrowing is refused', async () => {
    const user = await somebody();
    const { grantId } = await app.connect(user, [HEART, MOOD]);
    const tab = await openTab(user, [PROFILE]);
    const url = `${stack.gateway}/partner/consent/grants/${grantId}`;
    expectStatus(200, await send(url, { bearer: user, method: 'PATCH', json: { scopes: [HEART] } }));
    const { revision } = tab;
    expect(codeOf(await app.approveAs(user, tab.id, { revision }))).toEqual([409, 'CONFLICT']);
    expect((await grantOf(user, grantId)).scopes).toEqual([HEART]);
  });

  test('of two approvals at once exactly one wins', async () => {
    const user = await somebody();
    const tabs = [await openTab(user, [HEART]), await openTab(user, [MOOD])];
    expect(tabs[0]?.revision).toBe(tabs[1]?.revision);
    const answers = await Promise.all(tabs.map(({ id, revision }) => app.approveAs(user, id, { revision })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    const grants = await send(`${stack.gateway}/partner/consent/grants`, { bearer: user });
    expect(grants.body.data).toHaveLength(1);
    expect(grants.body.data[0].scopes).toHaveLength(1);
  });
});

describe('more time to decide', () => {
  test('is given to the person who has opened the request, who can then approve it', async () => {
    const [user, other, id] = [await somebody(), await somebody(), await ask([HEART])];
    const extend = (bearer: string) => pending(bearer, `/${id}/extend`, { json: {} });
    expect(codeOf(await extend(user))).toEqual([404, 'NOT_FOUND']);
    const shown = expectStatus(200, await pending(user, `/${id}`)).body.data;
    const { data } = expectStatus(200, await extend(user)).body;
    expect(data).toEqual({ id, expiresAt: expect.any(String) });
    expect(Date.parse(data.expiresAt)).toBeGreaterThan(Date.parse(shown.expiresAt));
    expect((await pending(user, `/${id}`)).body.data.expiresAt).toBe(data.expiresAt);
    expect(codeOf(await extend(other))).toEqual([404, 'NOT_FOUND']);
    const { redirectUri } = expectStatus(200, await app.approveAs(user, id)).body.data;
    await app.expectTokens(new URL(redirectUri).searchParams.get('code') ?? '');
    expect(codeOf(await extend(user))).toEqual([409, 'ALREADY_DECIDED']);
  });

  test('is given ten times', async () => {
    const [user, id] = [await somebody(), await ask([HEART])];
    expectStatus(200, await pending(user, `/${id}`));
    for (let count = 0; count < 10; count += 1) {
      expectStatus(200, await pending(user, `/${id}/extend`, { json: {} }));
    }
    expect(codeOf(await pending(user, `/${id}/extend`, { json: {} }))).toEqual([409, 'CONFLICT']);
    expectStatus(200, await app.approveAs(user, id));
  });
});

describe('a request that was opened with the wrong account', () => {
  test('is given back, and belongs to the account that opens it next', async () => {
    const [wrong, right, id] = [await somebody(), await somebody(), await ask([HEART])];
    const release = (bearer: string) => pending(bearer, `/${id}/release`, { json: {} });
    expectStatus(200, await pending(wrong, `/${id}`));
    expect(codeOf(await release(right))).toEqual([404, 'NOT_FOUND']);
    expect(expectStatus(200, await release(wrong)).body).toEqual({ data: { id } });
    expectStatus(200, await release(wrong));
    expectStatus(200, await pending(right, `/${id}`));
    expect(codeOf(await pending(wrong, `/${id}`))).toEqual([404, 'NOT_FOUND']);
    expectStatus(200, await app.approveAs(right, id));
    expect(codeOf(await release(right))).toEqual([409, 'ALREADY_DECIDED']);
  });
});
