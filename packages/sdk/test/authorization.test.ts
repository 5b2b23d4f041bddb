import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { createClient } from '../src/client.ts';
import { json, lostConnection, makeClient, type Reply, tokenAnswer } from './made-client.ts';

const APPROVAL = 'https://health.example/approve/apr_1';
const PUSHED = { request_uri: 'urn:x', expires_in: 600, approval_uri: APPROVAL, pending_id: 'apr_1' };

const makeAuthorized = () =>
  makeClient(({ url }) => (url.pathname === '/oauth/par' ? json(201, PUSHED) : json(200, tokenAnswer(1))));

describe('authorize', () => {
  test('authorize pushes the request with PKCE and a new state, and returns the approval screen', async () => {
    const { client, service } = makeAuthorized();
    const { url, kept } = await client.authorize({
      scopes: ['read:profile', 'read:mood'],
      purpose: 'A chart',
    });
    expect(url).toBe(APPROVAL);
    const form = Object.fromEntries(service.sent[0]?.form ?? []);
    expect(form).toEqual({
      response_type: 'code',
      redirect_uri: 'https://app.example/callback',
      scope: 'read:profile read:mood',
      purpose: 'A chart',
      state: kept.state,
      code_challenge: createHash('sha256').update(kept.codeVerifier).digest('base64url'),
      code_challenge_method: 'S256',
      include_granted_scopes: 'true',
    });
    const again = await client.authorize({ scopes: ['read:profile'] });
    expect(again.kept.state).not.toBe(kept.state);
    expect(again.kept.codeVerifier).not.toBe(kept.codeVerifier);
  });

  test('authorize without a secret builds the address of the authorization endpoint', async () => {
    const client = createClient({
      baseUrl: 'https://health.example',
      clientId: 'app_1',
      redirectUri: 'https://app.example/callback',
    });
    const { url, kept } = await client.authorize({ scopes: ['read:profile'], state: 'mine' });
    const { origin, pathname, searchParams } = new URL(url);
    expect(origin + pathname).toBe('https://health.example/oauth/authorize');
    expect(searchParams.get('client_id')).toBe('app_1');
    expect(searchParams.get('state')).toBe('mine');
    expect(searchParams.get('include_granted_scopes')).toBe('true');
    expect(kept.state).toBe('mine');
  });
});

describe('exchange', () => {
  const back = (query: string) => `/callback?${query}`;
  const ISS = `iss=${encodeURIComponent('https://health.example')}`;

  test('exchange sends the code with the verifier, stores the tokens and returns the connection', async () => {
    const { client, service, store } = makeAuthorized();
    const { kept } = await client.authorize({ scopes: ['read:profile'] });
    const connection = await client.exchange(back(`code=phds_ac_1&state=${kept.state}&${ISS}`), kept);
    expect(connection.id).toBe('grt_1');
    expect(Object.fromEntries(service.sent[1]?.form ?? [])).toEqual({
      grant_type: 'authorization_code',
      code: 'phds_ac_1',
      redirect_uri: 'https://app.example/callback',
      code_verifier: kept.codeVerifier,
    });
    expect(await store.get('grt_1')).toMatchObject({
      refreshToken: 'phds_rt_1',
      sub: 'sub_1',
      scopes: ['read:profile'],
    });
  });

  test.each([
    ['another state', `code=phds_ac_1&state=x&${ISS}`, 'CALLBACK_REFUSED'],
    ['no state', `code=phds_ac_1&${ISS}`, 'CALLBACK_REFUSED'],
    ['another issuer', 'code=phds_ac_1&state=STATE&iss=https://evil.example', 'CALLBACK_REFUSED'],
    ['no issuer', 'code=phds_ac_1&state=STATE', 'CALLBACK_REFUSED'],
    ['no code', `state=STATE&${ISS}`, 'CALLBACK_REFUSED'],
    ['a refusal by the person', `error=access_denied&state=STATE&${ISS}`, 'ACCESS_DENIED'],
    ['another error', `error=invalid_scope&error_description=why&state=STATE&${ISS}`, 'AUTHORIZATION_FAILED'],
  ])('exchange refuses a callback with %s, and sends nothing', async (_, query, code) => {
    const { client, service } = makeAuthorized();
    const { kept } = await client.authorize({ scopes: ['read:profile'] });
    const callback = back(query.replace('STATE', kept.state));
    await expect(client.exchange(callback, kept)).rejects.toMatchObject({ code });
    expect(service.lines).toEqual(['POST /oauth/par']);
  });

  const answers = (...replies: (() => Reply)[]) =>
    makeClient(({ url }) =>
      url.pathname === '/oauth/par' ? json(201, PUSHED) : (replies.shift() ?? lostConnection)(),
    );

  test('an exchange is repeated with the same code when no answer arrived', async () => {
    const { client, service } = answers(lostConnection, () => json(200, tokenAnswer(1)));
    const { kept } = await client.authorize({ scopes: ['read:profile'] });
    await client.exchange(back(`code=phds_ac_1&state=${kept.state}&${ISS}`), kept);
    expect(service.sent.slice(1).map(({ form }) => form.get('code'))).toEqual(['phds_ac_1', 'phds_ac_1']);
  });

  test('an exchange whose answer was lost after it was carried out asks for a new approval, and stores nothing', async () => {
    const used = { error: 'invalid_grant', error_description: 'Used before.', code: 'INVALID_GRANT' };
    const { client, service, store } = answers(lostConnection, () => json(400, used));
    const { kept } = await client.authorize({ scopes: ['read:profile'] });
    const exchanged = client.exchange(back(`code=phds_ac_1&state=${kept.state}&${ISS}`), kept);
    await expect(exchanged).rejects.toMatchObject({ code: 'INVALID_GRANT', needsNewApproval: true });
    expect(service.sent.length).toBe(3);
    expect(await store.get('grt_1')).toBeNull();
  });

  test('exchange replaces the tokens of an earlier approval by the same person', async () => {
    let number = 0;
    const { client, store } = makeClient(({ url }) => {
      if (url.pathname === '/oauth/par') return json(201, PUSHED);
      number += 1;
      return json(200, tokenAnswer(number));
    });
    for (let round = 0; round < 2; round += 1) {
      const { kept } = await client.authorize({ scopes: ['read:profile'] });
      await client.exchange(back(`code=phds_ac_1&state=${kept.state}&${ISS}`), kept);
    }
    expect((await store.get('grt_1'))?.refreshToken).toBe('phds_rt_2');
  });
});
