import { createHash, createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { KeyPair, KeyStore } from '../src/signer.ts';
import { json, lostConnection, makeClient, problem, type Sent, tokenAnswer, tokens } from './made-client.ts';

const PROFILE = { name: null, gender: null, dateOfBirth: null, bloodType: null };
const PUSHED = {
  request_uri: 'urn:x',
  expires_in: 300,
  approval_uri: 'https://health.example/approve/apr_1',
};

const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const edwards = generateKeyPairSync('ed25519');
const toPem = ({ privateKey }: typeof ec) => privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
const toJwk = (key: (typeof ec)['privateKey']) => key.export({ format: 'jwk' }) as Record<string, string>;
const [pem, jwk] = [toPem(ec), toJwk(ec.publicKey)];

/** A client with a key in place of the secret, in front of a service that answers by path. */
function makeKeyed(options: object, answer: (sent: Sent, index: number) => ReturnType<typeof json> | Error) {
  return makeClient(answer, {
    options: { clientSecret: undefined, clientKey: pem, ...options } as object,
  });
}

let keptKey: Promise<KeyPair> | undefined;
const keyStore: KeyStore = {
  keyPair: (make) => {
    keptKey ??= make();
    return keptKey;
  },
};

const answerAll = ({ url }: Sent) => {
  if (url.pathname === '/oauth/par') return json(201, PUSHED);
  if (url.pathname === '/oauth/token') return json(200, { ...tokenAnswer(1), token_type: 'DPoP' });
  return json(200, { data: PROFILE });
};

/** A JWT whose signature is that of the key, by default the one in its header. */
function readJwt(text: string | null, given?: Record<string, string>) {
  const [head = '', body = '', signature = ''] = (text ?? '').split('.');
  const parse = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
  const header = parse(head);
  const key = createPublicKey({ key: given ?? header.jwk, format: 'jwk' });
  const isEdwards = key.asymmetricKeyType === 'ed25519';
  const fits = verify(
    isEdwards ? null : 'sha256',
    Buffer.from(`${head}.${body}`),
    isEdwards ? key : { key, dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  );
  expect(fits).toBe(true);
  return { header, claims: parse(body) };
}

const proofOf = ({ headers }: Sent) => readJwt(headers.get('DPoP'));

describe('client key', () => {
  test.each([
    ['a PEM of P-256', pem, jwk, { alg: 'ES256' }],
    [
      'a PEM of Ed25519',
      toPem(edwards as typeof ec),
      toJwk(edwards.publicKey as typeof ec.publicKey),
      { alg: 'Ed25519' },
    ],
    ['a JWK with kid', { ...toJwk(ec.privateKey), kid: 'k1' }, jwk, { alg: 'ES256', kid: 'k1' }],
  ])(
    '%s signs an assertion for each attempt, in place of the secret',
    async (_, clientKey, publicKey, header) => {
      const { client, service, clock } = makeKeyed(
        { clientKey, issuer: 'https://public.example' },
        (_sent, index) => (index === 0 ? lostConnection() : json(200, { active: false })),
      );
      const started = clock.now() / 1_000;
      await client.introspect('phds_at_1');
      const assertions = service.sent.map(({ form }) => readJwt(form.get('client_assertion'), publicKey));
      expect(assertions.map((assertion) => assertion.header)).toEqual(
        Array(2).fill({ typ: 'client-authentication+jwt', ...header }),
      );
      const { iat, exp, jti, ...names } = assertions[0]?.claims ?? {};
      expect(names).toEqual({ iss: 'app_1', sub: 'app_1', aud: 'https://public.example' });
      expect([iat, exp]).toEqual([started, started + 60]);
      expect(assertions[1]?.claims.jti).not.toBe(jti);
      const [first] = service.sent;
      expect(first?.form.get('client_assertion_type')).toBe(
        'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      );
      expect([first?.form.get('client_id'), first?.form.get('token')]).toEqual(['app_1', 'phds_at_1']);
      expect([first?.headers.has('Authorization'), first?.headers.has('DPoP')]).toEqual([false, false]);
    },
  );

  test('a text that is no key, and a key beside a secret, are refused before anything is sent', async () => {
    const { client, service } = makeKeyed({ clientKey: 'phds_cs_1' }, answerAll);
    await expect(client.introspect('phds_at_1')).rejects.toThrow(/neither a PEM .* nor a JWK/);
    expect(service.sent).toEqual([]);
    expect(() => makeKeyed({ clientSecret: 'phds_cs_1' }, answerAll)).toThrow('give one');
  });
});

describe('bound tokens', () => {
  test.each([
    ['the client key', { dpop: true }, jwk],
    ['another key', { dpop: pem, clientKey: toPem(edwards as typeof ec) }, jwk],
    ['a key of a store', { dpop: keyStore, clientKey: undefined }, undefined],
    ['a key of the process', { dpop: true, clientKey: undefined, clientSecret: 'phds_cs_1' }, undefined],
  ])('the life of a connection is bound to %s', async (_, options, bound) => {
    const { client, service, clock, store } = makeKeyed(
      { issuer: 'https://public.example', ...options },
      answerAll,
    );
    const { kept } = await client.authorize({ scopes: ['read:profile'] });
    const callback = `/?code=phds_ac_1&state=${kept.state}&iss=${encodeURIComponent('https://public.example')}`;
    const connection = await client.exchange(callback, kept);
    await connection.profile();
    await client.grant('grt_1');
    const proofs = service.sent.map(proofOf);
    await client.introspect('phds_at_1');
    expect(service.sent[5]?.headers.has('DPoP')).toBe(false);
    const key = bound ?? proofs[0]?.header.jwk;
    expect(proofs.map(({ header }) => header)).toEqual(
      Array(5).fill({ alg: 'ES256', typ: 'dpop+jwt', jwk: key }),
    );
    expect(key).not.toHaveProperty('d');
    const [iat, ath] = [clock.now() / 1_000, createHash('sha256').update('phds_at_1').digest('base64url')];
    expect(proofs.map(({ claims: { jti, ...claims } }) => claims)).toEqual([
      { iat, htm: 'POST', htu: 'https://public.example/oauth/par' },
      { iat, htm: 'POST', htu: 'https://public.example/oauth/token' },
      { iat, htm: 'GET', htu: 'https://public.example/api/v1/profile', ath },
      { iat, htm: 'POST', htu: 'https://public.example/oauth/token' },
      { iat, htm: 'GET', htu: 'https://public.example/oauth/grants/grt_1', ath },
    ]);
    expect(new Set(proofs.map(({ claims }) => claims.jti)).size).toBe(5);
    expect(service.sent[2]?.headers.get('Authorization')).toBe('DPoP phds_at_1');
    expect(service.sent[4]?.headers.get('Authorization')).toBe('DPoP phds_at_1');
    expect((await store.get('grt_1'))?.tokenType).toBe('DPoP');
  });

  test('a repeat has a new proof, and tokens from before are sent as they were issued until they are renewed', async () => {
    const { client, service, clock, store } = makeKeyed({ dpop: true }, (sent, index) =>
      index === 2 ? lostConnection() : answerAll(sent),
    );
    const { tokenType: _, ...old } = tokens(7, clock.now());
    await store.replace('grt_1', null, old as ReturnType<typeof tokens>);
    await client.connection('grt_1').profile();
    clock.time += 3_600_000;
    await client.connection('grt_1').profile();
    expect(service.sent[0]?.headers.get('Authorization')).toBe('Bearer phds_at_7');
    expect(service.sent[0]?.headers.has('DPoP')).toBe(false);
    const [lost, repeated] = service.sent.slice(2).map((sent) => proofOf(sent).claims);
    expect(repeated.ath).toBe(lost.ath);
    expect(repeated.jti).not.toBe(lost.jti);
  });
});

describe('a wrong clock', () => {
  const AHEAD_MS = 600_000;
  const date = (time: number) => ({ Date: new Date(time).toUTCString() });

  test('what the service refused for its time is sent once more with the time of the service, and later requests have it', async () => {
    const made = makeKeyed({ dpop: true }, (sent) => {
      const now = made.clock.now() - AHEAD_MS;
      const isLate = Math.abs(proofOf(sent).claims.iat * 1_000 - now) > 30_000;
      if (!isLate) return answerAll(sent);
      return sent.url.pathname === '/oauth/token'
        ? json(400, { error: 'invalid_dpop_proof', code: 'INVALID_DPOP_PROOF' }, date(now))
        : problem(401, 'UNAUTHORIZED', {}, date(now));
    });
    const { client, service, clock, store } = made;
    await store.replace('grt_1', null, { ...tokens(1, clock.now()), tokenType: 'DPoP' });
    // Both are sent before the first answer.
    await Promise.all([client.connection('grt_1').profile(), client.grant('grt_1').catch(() => undefined)]);
    expect(service.lines.filter((line) => line === 'GET /api/v1/profile').length).toBe(2);
    expect(service.lines.filter((line) => line === 'POST /oauth/token').length).toBe(2);
    service.sent.length = 0;
    await client.connection('grt_1').profile();
    expect(service.lines).toEqual(['GET /api/v1/profile']);
  });

  test('a service that goes on refusing is asked twice, and once when its time is ours', async () => {
    let jump = 0;
    const { client, service, clock } = makeKeyed({}, () => {
      jump += AHEAD_MS;
      return problem(401, 'UNAUTHORIZED', {}, date(clock.now() + jump));
    });
    await expect(client.introspect('x')).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    expect(service.sent.length).toBe(2);
    const exact = makeKeyed({}, () => problem(401, 'UNAUTHORIZED', {}, date(exact.clock.now())));
    await expect(exact.client.introspect('x')).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    expect(exact.service.sent.length).toBe(1);
  });
});
