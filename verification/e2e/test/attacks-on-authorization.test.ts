import { beforeAll, describe, expect, test } from '@jest/globals';
import { expectStatus, type PartnerApp, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { type Answer, send } from '@phds/running-system/request';
import { type SharedStack, useSharedStack } from '@phds/running-system/shared-stack';
import { Browser, toLocation } from '../src/browser.ts';

const HEART = 'read:health-data:heart';
const PROFILE = 'read:profile';
const OTHER_URI = 'https://app.example/callback';

let stack: SharedStack;
let developer: string;
let user: string;

beforeAll(async () => {
  stack = await useSharedStack();
  developer = await signIn(stack, 'developer');
  user = await signIn(stack, 'attacks-on-authorization-ada');
});

const codeOf = ({ status, body }: Answer): [number, string] => [status, body.code];

describe('an app whose developer removes a setting while a request is open', () => {
  const tightenings: [what: string, settings: object][] = [
    ['the redirect URI', { redirectUris: [OTHER_URI] }],
    ['a scope', { scopes: [PROFILE] }],
    ['the permission to do without PKCE', { requirePkce: true }],
  ];

  async function register(): Promise<{ app: PartnerApp; change: (settings: object) => Promise<void> }> {
    const app = await registerApp(stack.gateway, developer, { scopes: [HEART, PROFILE] });
    const url = `${stack.gateway}/developer/apps/${app.clientId}`;
    const change = async (json: object) => {
      expectStatus(200, await send(url, { method: 'PATCH', bearer: developer, json }));
    };
    return { app, change };
  }

  const decide = (id: string, decision: 'approve' | 'deny') =>
    send(`${stack.gateway}/partner/consent/pending/${id}/${decision}`, { bearer: user, json: {} });

  test.each(tightenings)('%s gets no approval and no grant with it', async (_what, settings) => {
    const { app, change } = await register();
    const { pending_id: id } = expectStatus(201, await app.authorize([HEART, PROFILE])).body;
    await change(settings);
    const answer = await decide(id, 'approve');
    expect(codeOf(answer)).toEqual([409, 'CONFLICT']);
    expect(answer.body.detail).toContain('Start again in the app');
    const { data } = expectStatus(
      200,
      await send(`${stack.gateway}/partner/consent/grants?pageSize=100`, { bearer: user }),
    ).body;
    expect(data.map((grant: { app: { clientId: string } }) => grant.app.clientId)).not.toContain(
      app.clientId,
    );
  });

  test.each(tightenings)(
    '%s gets no tokens for a code that includes it, and an error that tells why',
    async (_what, settings) => {
      const { app, change } = await register();
      const { code } = await app.expectCode(user, [HEART, PROFILE]);
      await change(settings);
      const answer = await app.exchange(code);
      expect(codeOf(answer)).toEqual([400, 'INVALID_GRANT']);
      expect(answer.body).toMatchObject({ error: 'invalid_grant' });
      expect(answer.body.error_description).toMatch(/Ask the person again/);
    },
  );

  test('the removed redirect URI does not get a denial either', async () => {
    const { app, change } = await register();
    const { pending_id: id } = expectStatus(201, await app.authorize([HEART])).body;
    await change({ redirectUris: [OTHER_URI] });
    const { body } = expectStatus(200, await decide(id, 'deny'));
    expect(body).toEqual({ data: { id, status: 'denied', redirectUri: null } });
  });
});

describe('an app that imitates another app', () => {
  const register = (settings: object) =>
    send(`${stack.gateway}/developer/apps`, {
      bearer: developer,
      json: { name: 'Diary', redirectUris: [OTHER_URI], ...settings },
    });

  test.each(['\u3164', '\u2800', '\u115F\u1160\uFFA0', 'Diary\u{E0042}', '\u202EyraiD', 'Di\u200Bary'])(
    'cannot call itself %j',
    async (name) => {
      const { status, body } = await register({ name });
      expect([status, body.code, body.errors]).toEqual([
        400,
        'INVALID_REQUEST',
        [{ parameter: 'name', message: expect.stringMatching(/invisible or change the direction.*U\+/) }],
      ]);
    },
  );

  test('cannot register a host that looks like another host', async () => {
    const { status, body } = await register({ redirectUris: ['https://mychart.org%2eevil.example/cb'] });
    expect([status, body.errors]).toEqual([
      400,
      [{ parameter: 'redirectUris', message: expect.stringContaining('mychart.org.evil.example') }],
    ]);
  });
});

describe("a link to the service that ends in an error at an attacker's app", () => {
  async function prepare(): Promise<{ app: PartnerApp; link: string }> {
    const app = await registerApp(stack.gateway, developer, { redirectUris: [OTHER_URI], scopes: [HEART] });
    const query = {
      client_id: app.clientId,
      redirect_uri: OTHER_URI,
      scope: 'nonsense',
      state: 's',
      response_type: 'code',
    };
    return { app, link: `${stack.gateway}/oauth/authorize?${new URLSearchParams(query)}` };
  }

  test('does not redirect people who share no data with that app, signed in or not', async () => {
    const { app, link } = await prepare();
    // The app's developer can connect it to an account of their own.
    await app.connect(developer, [HEART]);
    for (const answer of [await send(link), await new Browser(user).open(link)]) {
      expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
      expect(answer.text).toContain('<strong>app.example</strong>');
    }
  });

  test('shows a link back that reports the error to an ordinary client', async () => {
    const { text } = await send((await prepare()).link);
    const escaped = /<a class="action" href="([^"]+)"/.exec(text)?.[1] ?? '';
    const href = escaped.replaceAll('&#39;', "'").replaceAll('&amp;', '&');
    expect(href.startsWith(OTHER_URI)).toBe(true);
    expect(Object.fromEntries(new URL(href).searchParams)).toMatchObject({
      error: 'invalid_scope',
      state: 's',
      iss: stack.gateway,
    });
  });

  test('redirects a person who shares data with the app at once', async () => {
    const { app, link } = await prepare();
    const { grantId } = await app.connect(user, [HEART]);
    const browser = new Browser(user);
    expect(toLocation(expectStatus(303, await browser.open(link)), link).origin).toBe('https://app.example');
    const grant = `${stack.gateway}/partner/consent/grants/${grantId}`;
    expectStatus(200, await send(grant, { method: 'DELETE', bearer: user }));
    expectStatus(400, await browser.open(link));
  });
});

describe.each(['authorize', 'par'])('a request that is pushed to /oauth/%s', (path) => {
  const push = (app: PartnerApp, json: object) =>
    send(`${stack.gateway}/oauth/${path}`, {
      json: { ...app.credentials, redirect_uri: app.redirectUri, scope: HEART, ...json },
    });

  test('refuses request_uri and request objects, and tells only the app', async () => {
    const app = await registerApp(stack.gateway, developer);
    const { request_uri } = expectStatus(201, await push(app, {})).body;
    for (const json of [{ request_uri }, { request: 'eyJhbGciOiJub25lIn0.e30.' }]) {
      const { status, body } = await push(app, json);
      expect([status, body.error, body.code]).toEqual([400, 'invalid_request', 'INVALID_REQUEST']);
      expect(body.error_description).toContain(Object.keys(json)[0]);
    }
    expect(codeOf(await push(app, { request_uri, client_secret: 'wrong' }))).toEqual([401, 'UNAUTHORIZED']);
  });
});

describe('a foreign page that makes the browser of a signed-in person request a pending approval', () => {
  test('does not claim it, and the intended person can still decide', async () => {
    const app = await registerApp(stack.gateway, developer);
    const { pending_id: id, approval_uri } = expectStatus(201, await app.authorize([HEART])).body;
    const url = `${stack.gateway}/partner/consent/pending/${id}`;
    const attacked = new Browser(await signIn(stack, 'attacked'));
    // Loaded as an image or through a link on that page.
    expect(codeOf(await attacked.open(url))).toEqual([401, 'UNAUTHORIZED']);
    const person = new Browser(user);
    expectStatus(200, await person.open(approval_uri));
    expectStatus(200, await person.ask(url));
    expect((await attacked.ask(url)).status).toBe(404);
    expectStatus(200, await app.approveAs(user, id));
  });
});
