import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expectStatus, type PartnerApp, registerApp } from '@phds/e2e/partner-app';
import { signIn } from '@phds/e2e/people';
import { type Answer, send } from '@phds/e2e/request';
import { type RunningStack, startRunningStack } from '@phds/e2e/running-stack';

const HEART = 'read:health-data:heart';
const PROFILE = 'read:profile';
const OTHER_URI = 'https://app.example/callback';

let stack: RunningStack;
let developer: string;
let user: string;

beforeAll(async () => {
  stack = await startRunningStack();
  developer = await signIn(stack, 'developer');
  user = await signIn(stack, 'ada');
});
afterAll(async () => stack?.[Symbol.asyncDispose]());

const codeOf = ({ status, body }: Answer): [number, string] => [status, body.code];

describe('an app whose developer takes something away while a request is open', () => {
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
    '%s gets no tokens for a code that has it, and is told why',
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

  test('the redirect URI gets no denial there either', async () => {
    const { app, change } = await register();
    const { pending_id: id } = expectStatus(201, await app.authorize([HEART])).body;
    await change({ redirectUris: [OTHER_URI] });
    const { body } = expectStatus(200, await decide(id, 'deny'));
    expect(body).toEqual({ data: { id, status: 'denied', redirectUri: null } });
  });
});

describe('an app that wants to be taken for another', () => {
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

  test('cannot register a host that is read as another one', async () => {
    const { status, body } = await register({ redirectUris: ['https://mychart.org%2eevil.example/cb'] });
    expect([status, body.errors]).toEqual([
      400,
      [{ parameter: 'redirectUris', message: expect.stringContaining('mychart.org.evil.example') }],
    ]);
  });
});
