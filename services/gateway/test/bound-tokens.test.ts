import { beforeEach, describe, expect, test } from '@jest/globals';
import { TokenStatus } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import type { CountRefusalsRequest } from '@phds/contracts/phds/consent/v1/access_pb';
import { GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { unavailable } from '@phds/service-kit/errors';
import { newSecret } from '@phds/service-kit/secrets';
import { createProofKey, type ProofKey } from '@phds/test-kit/dpop-proofs';
import { createTestRedis, describeWithRedis } from '@phds/test-kit/redis';
import type { Answers } from './fake-backends.ts';
import {
  ask,
  documentOf,
  exchangeRaw,
  liveToken,
  shareTestGateway,
  startTestGateway,
  throwing,
} from './test-gateway.ts';

const PUBLIC_URL = 'https://phds.example';
const PATH = '/api/v1/health-data/heart';
const FLOOR_MS = 600_000;
const gateway = shareTestGateway({ PUBLIC_URL }, { constants: { AUTH_FAILURE_FLOOR_MS: FLOOR_MS } });
const [key, other] = await Promise.all([createProofKey(), createProofKey()]);
const token = newSecret('access_token');

const live = (jkt = key.jkt): Answers => ({
  introspect: () => Object.assign(liveToken(), { jkt }),
  read: () => documentOf({ data: [] }),
});

interface Changes {
  readonly by?: ProofKey;
  readonly path?: string;
  readonly claims?: object;
  readonly header?: object;
}

const prove = ({ by = key, path = PATH, ...changes }: Changes = {}) =>
  by.prove({ method: 'GET', url: PUBLIC_URL + path, accessToken: token, now: gateway.clock.now() }, changes);

/** Fields of a request with this proof. */
const withProof = (proof: string) => ({ authorization: `DPoP ${token}`, dpop: proof });

const get = async (headers: Record<string, string>, path = PATH) => ask(gateway, path, { headers });

/** The whole answer over the wire. */
const exchange = (fields: readonly string[], path = PATH) =>
  exchangeRaw(gateway.port, [`GET ${path} HTTP/1.1`, ...fields].join('\r\n'));

const GARBAGE = ['Authorization: Bearer garbage'];

beforeEach(() => gateway.backends.answer(live()));

describe('a bound token with a proof', () => {
  test('opens what a bearer token does, and health-data gets the key that was proved', async () => {
    for (const scheme of ['DPoP', 'dpop']) {
      const { status } = await get({ ...withProof(await prove()), authorization: `${scheme} ${token}` });
      expect(status).toBe(200);
    }
    const reads = gateway.backends.callsOf('read').map(({ request }) => request['jkt']);
    expect(reads).toEqual([key.jkt, key.jkt]);
  });

  test('is for the public URL, whatever Host and X-Forwarded-Host say', async () => {
    const forged = { host: 'evil.example', 'x-forwarded-host': 'evil.example' };
    const { status } = await get({ ...withProof(await prove()), ...forged });
    expect(status).toBe(200);
    const proof = await prove({ claims: { htu: `https://evil.example${PATH}` } });
    expect((await get({ ...withProof(proof), ...forged })).status).toBe(401);
    const ofHost = await prove({ claims: { htu: `https://gateway.test${PATH}` } });
    const answer = await exchange([`Authorization: DPoP ${token}`, `DPoP: ${ofHost}`]);
    expect(answer).toBe(await exchange(GARBAGE));
  });

  test('that has expired is TOKEN_EXPIRED, with a challenge for a proof', async () => {
    gateway.backends.answer({ introspect: () => ({ status: TokenStatus.EXPIRED, jkt: key.jkt }) });
    const { body, response } = await get(withProof(await prove()));
    expect([body.code, response.headers.get('www-authenticate')]).toEqual([
      'TOKEN_EXPIRED',
      'DPoP realm="phds", algs="ES256 EdDSA Ed25519 PS256", error="invalid_token"',
    ]);
    const answer = await exchange([`Authorization: Bearer ${token}`]);
    expect(answer).toBe(await exchange(GARBAGE));
  });

  test('without the scope is refused with a challenge for a proof', async () => {
    const introspect = () =>
      Object.assign(liveToken({ principal: { scopes: ['read:mood'] } }), { jkt: key.jkt });
    gateway.backends.answer({ introspect });
    const { response } = await get(withProof(await prove()));
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([
      403,
      'DPoP realm="phds", algs="ES256 EdDSA Ed25519 PS256", error="insufficient_scope", scope="read:health-data:heart"',
    ]);
  });

  test('is 503 while authorization is away, which does not use the proof up', async () => {
    const proof = withProof(await prove());
    gateway.backends.answer({ introspect: throwing(unavailable(new Error('away'))) });
    expect((await get(proof)).status).toBe(503);
    gateway.backends.answer(live());
    expect((await get(proof)).status).toBe(200);
  });
});

describe('the same bytes after the same time as garbage, and no read', () => {
  const dpop = `Authorization: DPoP ${token}`;
  const field = async (changes: Changes = {}) => [dpop, `DPoP: ${await prove(changes)}`];
  test.each<[string, () => Promise<readonly string[]>, string?]>([
    ['a bound token as a bearer token', async () => [`Authorization: Bearer ${token}`]],
    [
      'a bound token as a bearer token with a proof',
      async () => [`Authorization: Bearer ${token}`, `DPoP: ${await prove()}`],
    ],
    ['no proof', async () => [dpop]],
    ['a token that is not bound', field, ''],
    ['the proof of another key', () => field({ by: other })],
    ['a proof signed by another key', () => field({ by: other, header: { jwk: key.publicJwk } })],
    ['two proofs', async () => [...(await field()), `DPoP: ${await prove()}`]],
    ['a proof and an empty field', async () => [...(await field()), 'DPoP: ']],
    ['two proofs in a field', async () => [dpop, `DPoP: ${await prove()}, ${await prove()}`]],
    ['two tokens', async () => [...(await field()), dpop]],
    ['another method', () => field({ claims: { htm: 'POST' } })],
    ['the proof for another token', () => field({ claims: { ath: 'A'.repeat(43) } })],
  ])('%s', async (_, fields, jkt = key.jkt) => {
    gateway.backends.answer(live(jkt));
    const garbage = await exchange(GARBAGE);
    gateway.pauses.length = 0;
    expect(await exchange(await fields())).toBe(garbage);
    expect(gateway.pauses).toHaveLength(1);
    expect(gateway.pauses[0]).toBeGreaterThan(FLOOR_MS / 2);
    expect(gateway.backends.callsOf('read')).toEqual([]);
  });

  test('a proof that was used, which counts against no limit', async () => {
    const fields = await field();
    const left = async () =>
      Number(
        /r=(\d+)/.exec((await get(withProof(await prove()))).response.headers.get('ratelimit') ?? '')?.[1],
      );
    const before = await left();
    expect(await exchange(fields)).toContain(' 200 ');
    const garbage = await exchange(GARBAGE);
    for (let use = 2; use <= 3; use += 1) expect(await exchange(fields)).toBe(garbage);
    expect(await left()).toBe(before - 2);
    expect(gateway.backends.callsOf('read')).toHaveLength(3);
  });

  test('a token of the app itself at /oauth/grants', async () => {
    const introspect = () =>
      Object.assign(liveToken({ principal: { userId: '' }, grant: null }), { jkt: key.jkt });
    gateway.backends.answer({ introspect });
    const path = '/oauth/grants';
    const fields = await field({ path });
    expect(await exchange(fields, `${path}?page=1`)).toContain(' 200 ');
    const garbage = await exchange(GARBAGE, path);
    expect(garbage).toContain('invalid_client');
    for (const wrong of [fields, [dpop], await field(), [`Authorization: Bearer ${token}`]]) {
      expect(await exchange(wrong, path)).toBe(garbage);
    }
    expect(gateway.backends.callsOf('listOwnGrants')).toHaveLength(1);
  });
});

test('a proof with a wrong claim costs no call', async () => {
  await get(withProof(await prove({ claims: { htm: 'POST' } })));
  expect(gateway.backends.calls).toEqual([]);
});

test('the developer gets the number of requests with a live token whose key they did not prove, and of no other', async () => {
  await using slow = await startTestGateway(
    { PUBLIC_URL },
    { ...live(), constants: { USAGE_INTERVAL_MS: 3_600_000 } },
  );
  const from = async (headers: Record<string, string>, path = PATH) =>
    (await slow.fetch(path, { headers })).status;
  const used = withProof(await prove());
  expect(await from(used)).toBe(200);
  const unproven = [used, withProof(await prove({ by: other })), { authorization: `Bearer ${token}` }];
  for (const headers of unproven) expect(await from(headers)).toBe(401);
  for (const path of [PATH, '/oauth/grants']) {
    const forged = await prove({ path, by: other, header: { jwk: key.publicJwk } });
    expect(await from(withProof(forged), path)).toBe(401);
  }
  expect(await from({ authorization: `DPoP ${token}` })).toBe(401);
  for (const status of [TokenStatus.DEAD, TokenStatus.EXPIRED, TokenStatus.UNSPECIFIED]) {
    slow.backends.answer({ introspect: () => ({ status, jkt: key.jkt }) });
    expect(await from({ authorization: `Bearer ${newSecret('access_token')}` })).toBe(401);
  }
  slow.backends.answer(live(''));
  const bearerToken = { authorization: `Bearer ${newSecret('access_token')}` };
  expect(await from(bearerToken, `${PATH}?page=0`)).toBe(400);
  slow.backends.answer({ introspect: () => liveToken({ grant: { status: GrantStatus.REVOKED } }) });
  expect(await from({ authorization: `Bearer ${newSecret('access_token')}` })).toBe(403);
  await slow.service[Symbol.asyncDispose]();
  const [{ request } = { request: {} }] = slow.backends.callsOf('countRefusals');
  const counts = (request as unknown as CountRefusalsRequest).refusals;
  expect(counts).toMatchObject([
    { clientId: 'app_one', endpoint: '/api/v1/health-data/heart', status: 401, count: 4, withoutKey: 4 },
    { clientId: 'app_one', endpoint: '/oauth/grants', status: 401, count: 1, withoutKey: 1 },
    { clientId: 'app_one', status: 400, count: 1, withoutKey: 0, grantId: '' },
    { clientId: 'app_one', status: 403, count: 1, withoutKey: 0, grantId: 'grt_one' },
  ]);
});

describeWithRedis('two gateways', () => {
  test('accept a proof once, and without Redis once each', async () => {
    await using redis = await createTestRedis();
    const settings = { PUBLIC_URL, REDIS_URL: redis.url };
    await using one = await startTestGateway(settings, live());
    const statusAt = async ({ fetch }: typeof one, proof: string) =>
      (await fetch(PATH, { headers: withProof(proof) })).status;

    const proof = await prove();
    expect([await statusAt(one, proof), await statusAt(one, proof)]).toEqual([200, 401]);
    await using two = await startTestGateway(settings, live());
    expect(await statusAt(two, proof)).toBe(401);
    expect(two.backends.callsOf('read')).toEqual([]);
    await redis.stop();
    const next = await prove();
    expect(await statusAt(one, proof)).toBe(401);
    expect([await statusAt(one, next), await statusAt(one, next)]).toEqual([200, 401]);
    expect([await statusAt(two, next), await statusAt(two, next)]).toEqual([200, 401]);
  });
});
