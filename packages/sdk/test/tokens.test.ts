import { describe, expect, test } from '@jest/globals';
import { memoryTokenStore, type TokenStore } from '../src/token-store.ts';
import { json, makeClient, problem, type Sent, tokenAnswer, tokens } from './made-client.ts';

const PROFILE = { name: null, gender: null, dateOfBirth: null, bloodType: null };
const isRefresh = ({ url }: Sent) => url.pathname === '/oauth/token';
const bearer = ({ headers }: Sent) => headers.get('Authorization');

describe('renewal', () => {
  test('access tokens are renewed once for all calls that find them expired', async () => {
    const { client, service, clock, store } = makeClient((sent) =>
      json(200, isRefresh(sent) ? tokenAnswer(2) : { data: PROFILE }),
    );
    await store.replace('grt_1', null, tokens(1, clock.now()));
    clock.time += 3_600_000;
    await Promise.all(Array.from({ length: 50 }, () => client.connection('grt_1').profile()));
    expect(service.sent.filter(isRefresh).map(({ form }) => form.get('refresh_token'))).toEqual([
      'phds_rt_1',
    ]);
    const reads = service.sent.filter((sent) => !isRefresh(sent));
    expect(reads.length).toBe(50);
    expect(new Set(reads.map(bearer))).toEqual(new Set(['Bearer phds_at_2']));
    expect((await store.get('grt_1'))?.refreshToken).toBe('phds_rt_2');
  });

  test('access tokens are renewed once when the service refuses them for all calls', async () => {
    const { client, service, clock, store } = makeClient((sent) => {
      if (isRefresh(sent)) return json(200, tokenAnswer(2));
      return bearer(sent) === 'Bearer phds_at_2'
        ? json(200, { data: PROFILE })
        : problem(401, 'TOKEN_EXPIRED');
    });
    await store.replace('grt_1', null, tokens(1, clock.now()));
    await Promise.all(Array.from({ length: 10 }, () => client.connection('grt_1').profile()));
    expect(service.sent.filter(isRefresh).length).toBe(1);
  });

  test('access tokens are renewed shortly before they expire, and even a short life is used', async () => {
    const { client, service, clock, store } = makeClient((sent) =>
      json(200, isRefresh(sent) ? { ...tokenAnswer(2), expires_in: 20 } : { data: PROFILE }),
    );
    await store.replace('grt_1', null, tokens(1, clock.now()));
    clock.time += 3_600_000 - 30_000;
    await client.connection('grt_1').profile();
    await client.connection('grt_1').profile();
    expect(service.lines).toEqual(['POST /oauth/token', 'GET /api/v1/profile', 'GET /api/v1/profile']);
  });

  test('access tokens are taken from the store when another process has renewed them', async () => {
    const { client, service, clock, store } = makeClient(() => json(200, { data: PROFILE }));
    const old = tokens(1, clock.now());
    await store.replace('grt_1', null, old);
    clock.time += 3_600_000;
    await store.replace('grt_1', old, tokens(2, clock.now()));
    await client.connection('grt_1').profile();
    expect(service.sent.map(bearer)).toEqual(['Bearer phds_at_2']);
  });

  test('access tokens that another process stored during a renewal are used, and kept', async () => {
    const made = makeClient(async (sent) => {
      if (!isRefresh(sent)) return json(200, { data: PROFILE });
      await made.store.replace('grt_1', old, tokens(3, made.clock.now()));
      return json(200, tokenAnswer(2));
    });
    const old = tokens(1, made.clock.now() - 3_600_000);
    await made.store.replace('grt_1', null, old);
    await made.client.connection('grt_1').profile();
    expect(made.service.sent.map(bearer).at(-1)).toBe('Bearer phds_at_3');
    expect((await made.store.get('grt_1'))?.refreshToken).toBe('phds_rt_3');
  });

  test('access tokens that cannot be renewed fail with the reason, and stay stored', async () => {
    const { client, clock, store } = makeClient((sent) =>
      isRefresh(sent)
        ? json(400, {
            error: 'invalid_grant',
            error_description: 'The grant has ended.',
            code: 'INVALID_GRANT',
          })
        : problem(401, 'UNAUTHORIZED'),
    );
    await store.replace('grt_1', null, tokens(1, clock.now()));
    const error = await client
      .connection('grt_1')
      .profile()
      .catch((thrown) => thrown);
    expect(error).toMatchObject({
      code: 'INVALID_GRANT',
      message: 'The grant has ended.',
      needsNewApproval: true,
    });
    expect((await store.get('grt_1'))?.refreshToken).toBe('phds_rt_1');
  });

  test('a call that is aborted does not stop the renewal that others wait for', async () => {
    const answer = Promise.withResolvers<Response>();
    const { client, clock, store } = makeClient((sent) =>
      isRefresh(sent) ? answer.promise : json(200, { data: PROFILE }),
    );
    await store.replace('grt_1', null, tokens(1, clock.now() - 3_600_000));
    const stop = new AbortController();
    const aborted = client.connection('grt_1').profile({ signal: stop.signal });
    const other = client.connection('grt_1').profile();
    stop.abort(new Error('closed'));
    await expect(aborted).rejects.toThrow('closed');
    answer.resolve(json(200, tokenAnswer(2)));
    expect(await other).toEqual(PROFILE);
  });
});

describe('connections', () => {
  test('a connection without tokens in the store is NOT_CONNECTED', async () => {
    const { client } = makeClient(() => json(200, {}));
    await expect(client.connection('grt_9').profile()).rejects.toMatchObject({
      code: 'NOT_CONNECTED',
      needsNewApproval: true,
    });
  });

  test('a connection that disconnects revokes the refresh token and forgets the tokens; a second time changes nothing', async () => {
    const { client, service, clock, store } = makeClient(() => json(200, {}));
    await store.replace('grt_1', null, tokens(1, clock.now()));
    await client.connection('grt_1').disconnect();
    await client.connection('grt_1').disconnect();
    expect(service.lines).toEqual(['POST /oauth/revoke']);
    expect(service.sent[0]?.form.get('token')).toBe('phds_rt_1');
    expect(await store.get('grt_1')).toBeNull();
  });
});

describe('endGrant', () => {
  const endWith = async (store: TokenStore) => {
    const { client, service } = makeClient(
      (sent) => json(200, isRefresh(sent) ? { access_token: 'phds_at_app1', expires_in: 3_600 } : {}),
      { store },
    );
    await client.endGrant('grt_1');
    expect(service.lines).toEqual(['POST /oauth/token', 'DELETE /oauth/grants/grt_1']);
  };

  test('the end of a grant does not call `replace` of a store that holds no tokens', async () => {
    const store = memoryTokenStore();
    const strict: TokenStore = {
      get: store.get,
      replace: (grantId, previous, next) => {
        if (previous === null && next === null) throw new TypeError('There is nothing to insert.');
        return store.replace(grantId, previous, next);
      },
    };
    await endWith(strict);
    await strict.replace('grt_1', null, tokens(1, 0));
    await endWith(strict);
    expect(await store.get('grt_1')).toBeNull();
  });

  test('the end of a grant removes the tokens also when they are renewed between the two steps of the removal', async () => {
    const store = memoryTokenStore();
    const first = tokens(1, 0);
    await store.replace('grt_1', null, first);
    const renewedBetween: TokenStore = {
      get: async (grantId) => {
        const held = await store.get(grantId);
        await store.replace(grantId, first, tokens(2, 0));
        return held;
      },
      replace: store.replace,
    };
    await endWith(renewedBetween);
    expect(await store.get('grt_1')).toBeNull();
  });
});

describe('app token', () => {
  test.each([
    [404, 'NOT_FOUND'],
    [403, 'INSUFFICIENT_SCOPE'],
  ])("the app's own token is kept when a call with it is answered %i %s", async (status, code) => {
    const { client, service } = makeClient((sent) =>
      isRefresh(sent)
        ? json(200, { access_token: 'phds_at_app1', expires_in: 3_600 })
        : problem(status, code),
    );
    await expect(client.grant('grt_1')).rejects.toMatchObject({ code });
    await expect(client.grant('grt_1')).rejects.toMatchObject({ code });
    expect(service.sent.filter(isRefresh).length).toBe(1);
  });

  test("the app's own token is requested again by the next call when its request failed", async () => {
    const { client, service } = makeClient((sent, index) => {
      if (index === 0) return problem(401, 'UNAUTHORIZED');
      return json(200, isRefresh(sent) ? { access_token: 'phds_at_app1' } : { data: { id: 'grt_1' } });
    });
    await expect(client.grant('grt_1')).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    expect(service.sent.length).toBe(1);
    expect(await client.grant('grt_1')).toEqual({ id: 'grt_1' });
  });

  test("the app's own token does not keep an aborted call waiting, and arrives for the others", async () => {
    const answer = Promise.withResolvers<Response>();
    const { client, service } = makeClient((sent) =>
      isRefresh(sent) ? answer.promise : json(200, { data: { id: 'grt_1' } }),
    );
    const stop = new AbortController();
    const aborted = client.grant('grt_1', { signal: stop.signal });
    const other = client.grant('grt_1');
    stop.abort(new Error('closed'));
    await expect(aborted).rejects.toThrow('closed');
    answer.resolve(json(200, { access_token: 'phds_at_app1', expires_in: 3_600 }));
    expect(await other).toEqual({ id: 'grt_1' });
    await client.grant('grt_1');
    expect(service.sent.filter(isRefresh).length).toBe(1);
  });

  test("the app's own token is requested once for parallel calls, and again when it has expired", async () => {
    let valid = 'phds_at_app1';
    const page = { data: [], pagination: { page: 1, pageSize: 100, total: 0, totalPages: 0 } };
    const { client, service } = makeClient((sent) => {
      if (isRefresh(sent)) return json(200, { access_token: valid, expires_in: 3_600 });
      return bearer(sent) === `Bearer ${valid}` ? json(200, page) : problem(401, 'TOKEN_EXPIRED');
    });
    await Promise.all([client.grants().page(), client.grants({ status: 'active' }).page()]);
    expect(service.sent.filter(isRefresh).length).toBe(1);
    valid = 'phds_at_app2';
    await client.grants().page();
    expect(service.sent.filter(isRefresh).length).toBe(2);
    expect(service.sent[0]?.headers.get('Authorization')).toBe(`Basic ${btoa('app_1:phds_cs_1')}`);
  });
});
