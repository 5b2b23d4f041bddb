import { createServer } from 'node:http';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { AppStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { toPrismaOptions } from '@phds/service-kit/postgres/prisma';
import { createProofKey } from '@phds/test-kit/dpop-proofs';
import { listenOnLoopback } from '@phds/test-kit/loopback';
import { shared } from '@phds/test-kit/shared';
import { openTestPool } from '@phds/test-kit/test-pool';
import { createKeyFetching, createKeySource } from '../src/key-fetching.ts';
import { PrismaClient } from '../src/store/generated/client.ts';
import { signAssertion } from './assertions.ts';
import { type Harness, REDIRECT_URI, reasonOf, refusalOf, shareHarness, startHarness } from './harness.ts';

const LOCAL = { EGRESS_ALLOW_LOOPBACK: 'true' };
// Tests fetch by instances of their own.
const harness = await shareHarness(LOCAL, { keyFetchMs: 3_600_000 });
const options = { options: '-c search_path=authorization' };
const pool = shared.adopt(openTestPool(harness.database.url, options), (it) => it.end());

const limits = { schema: 'authorization', statementTimeoutMs: 10_000 };
const prisma = shared.adopt(new PrismaClient(toPrismaOptions(pool, limits)), (it) => it.$disconnect());

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const BY_KEY = { tokenEndpointAuthMethod: 'private_key_jwt' };

const [old, next] = [await createProofKey(), await createProofKey()];
const named = (kid: string, { publicJwk } = old) => ({ ...publicJwk, kid });
const setOf = (...keys: object[]) => JSON.stringify({ keys });

let path: string;
let clientId: string;
let count = 0;
/** By path. */
const answers = new Map<
  string,
  { status?: number; body?: string; 'content-type'?: string; location?: string }
>();
const requests: string[] = [];

const server = createServer((request, response) => {
  requests.push(request.url ?? '');
  const { status = 200, body = '', ...fields } = answers.get(request.url ?? '') ?? {};
  response.writeHead(status, { 'content-type': 'application/jwk-set+json', ...fields }).end(body);
});
shared.defer(() => void server.close());
const origin = `http://127.0.0.1:${await listenOnLoopback(server)}`;

beforeEach(() => {
  count += 1;
  path = `/${count}`;
  answers.set(path, { body: setOf(named('old')) });
});

const failures: string[] = [];
const createInstance = (settings = { EGRESS_ALLOW_LOOPBACK: true }) =>
  createKeyFetching({
    pool,
    prisma,
    keySource: createKeySource(settings, () => undefined),
    clock: harness.clock,
    onFetched: (id, failure) => void (id === clientId && failures.push(failure)),
  });
const instance = createInstance();
const fetchDue = (of = instance) => of.fetchDue(new AbortController().signal);
const requestsOf = (of = path) => requests.filter((asked) => asked === of).length;

async function register(settings: object = {}, at: Harness = harness) {
  const defaults = { name: 'App', redirectUris: [REDIRECT_URI], jwksUri: `${origin}${path}` };
  const registered = await at.apps.registerApp(
    { settings: { ...defaults, ...settings } },
    await at.as('dev'),
  );
  clientId = registered.app?.clientId ?? '';
  return registered;
}
const update = (settings: object) => harness.updateApp(clientId, settings);
const read = () => harness.readApp(clientId);

const grantType = 'client_credentials';
async function present(kid = 'old', at: Harness = harness) {
  const clientAssertion = await signAssertion(at, kid === 'next' ? next : old, clientId, { header: { kid } });
  const issuing = at.tokens.issueToken({ client: { clientId, clientAssertion }, grantType });
  return issuing.then(
    () => 'token',
    () => reasonOf(issuing),
  );
}

describe('the keys at the URL of an app', () => {
  test('work once they were fetched, and those that are gone from there end with the next fetch', async () => {
    const { app, clientSecret } = await register(BY_KEY);
    expect([clientSecret, app?.jwksFailure, app?.jwksFetchedAt]).toEqual([
      '',
      'has not been fetched yet',
      undefined,
    ]);
    expect(await present()).toBe('unauthorized');
    await fetchDue();
    expect(await present()).toBe('token');
    const { jwks, jwksUri, jwksFailure, jwksFetchedAt } = (await read()) ?? {};
    expect([jwks, jwksUri, jwksFailure]).toEqual([expect.stringContaining('"old"'), `${origin}${path}`, '']);
    expect(jwksFetchedAt).toBeDefined();
    answers.set(path, { body: setOf(named('next', next)) });
    harness.clock.advance(5 * MINUTE);
    await fetchDue();
    expect([await present('old'), await present('next')]).toEqual(['unauthorized', 'token']);
  });

  test('are fetched every five minutes, and at an unknown key every 30 seconds', async () => {
    await register();
    await fetchDue();
    harness.clock.advance(30 * SECOND - 1);
    instance.want(clientId);
    await fetchDue();
    expect(requestsOf()).toBe(1);
    harness.clock.advance(1);
    await fetchDue();
    expect(requestsOf()).toBe(1);
    for (let times = 0; times < 3; times += 1) {
      instance.want(clientId);
      await fetchDue();
    }
    expect(requestsOf()).toBe(2);
    harness.clock.advance(5 * MINUTE - 1);
    await fetchDue();
    expect(requestsOf()).toBe(2);
    harness.clock.advance(1);
    await fetchDue();
    expect(requestsOf()).toBe(3);
  });

  test('are fetched by the service, soon after an assertion has named an unknown one', async () => {
    await using service = await startHarness(LOCAL, { keyFetchMs: 10 });
    await register({}, service);
    const until = async (kid: string) => {
      for (let tries = 0; (await present(kid, service)) !== 'token'; tries += 1)
        expect(tries).toBeLessThan(500);
    };
    await until('old');
    answers.set(path, { body: setOf(named('next', next)) });
    service.clock.advance(30 * SECOND);
    await until('next');
    expect(requestsOf()).toBe(2);
    answers.set(path, { status: 503, body: 'secret' });
    service.clock.advance(30 * SECOND);
    await present('old', service);
    const failed = async () =>
      (await service.apps.listApps({ clientId }, await service.as('dev'))).apps[0]?.jwksFailure !== '';
    for (let tries = 0; !(await failed()); tries += 1) expect(tries).toBeLessThan(500);
    expect(service.logged()).toContain('"failure":"the answer has the status 503"');
    expect(service.logged()).not.toContain('secret"');
  });

  test.each([
    ['those that were fetched', {}],
    ['those that were registered before', { jwksUri: '', jwks: setOf(named('old')) }],
  ])('work for a day without a successful fetch: %s', async (_which, settings) => {
    await register(settings);
    await fetchDue();
    answers.set(path, { status: 500 });
    await update({ jwksUri: `${origin}${path}` });
    harness.clock.advance(24 * HOUR - 1);
    await fetchDue();
    expect([await present(), (await read())?.jwksFailure]).toEqual([
      'token',
      'the answer has the status 500',
    ]);
    harness.clock.advance(1);
    expect(await present()).toBe('unauthorized');
  });

  test('are fetched once by several replicas at the same time', async () => {
    const paths = Array.from({ length: 5 }, (_, index) => `${path}/${index}`);
    for (const of of paths) await register({ jwksUri: `${origin}${of}` });
    await Promise.all([fetchDue(), fetchDue(createInstance()), fetchDue(createInstance())]);
    expect(paths.map(requestsOf)).toEqual([1, 1, 1, 1, 1]);
  });

  test.each<[string, Parameters<typeof answers.set>[1], RegExp]>([
    [
      '64 KiB and more',
      { body: setOf({ ...old.publicJwk, x5c: ['x'.repeat(65_536)] }) },
      /more than 65536 bytes/,
    ],
    ['a page', { 'content-type': 'text/html', body: setOf(old.publicJwk) }, /JSON by its Content-Type/],
    ['a redirect', { status: 302, location: 'http://169.254.169.254/' }, /redirect \(302\)/],
    ['no key', { body: '{}' }, /list `keys`/],
  ])('are not taken from an answer with %s', async (_what, answer, failure) => {
    answers.set(path, answer);
    await register();
    await fetchDue();
    expect(failures.at(-1)).toMatch(failure);
    expect(await read()).toMatchObject({ jwks: '', jwksFailure: expect.stringMatching(failure) });
  });

  test('may be among keys for other purposes', async () => {
    const others = [
      { kty: 'EC', crv: 'P-384' },
      { ...old.publicJwk, use: 'enc', kid: 'enc' },
    ];
    answers.set(path, {
      'content-type': 'application/json; charset=utf-8',
      body: setOf(...others, named('old')),
    });
    await register();
    await fetchDue();
    expect(JSON.parse((await read())?.jwks ?? '').keys).toHaveLength(1);
  });

  test('are not fetched from the network of the service, whatever was stored', async () => {
    await register();
    await fetchDue(createInstance({ EGRESS_ALLOW_LOOPBACK: false }));
    expect([failures.at(-1), requestsOf()]).toEqual(['the host has a private or reserved address', 0]);
  });

  test('are gone after a revocation of the app, and are not fetched any more', async () => {
    await register();
    await fetchDue();
    for (const status of [AppStatus.REVOKED, AppStatus.ACTIVE]) {
      await harness.setStatus({ clientId }, status);
      harness.clock.advance(5 * MINUTE);
      await fetchDue();
    }
    expect([await present(), requestsOf()]).toEqual(['unauthorized', 1]);
    expect(await read()).toMatchObject({ jwks: '', jwksUri: '', jwksFailure: '' });
  });
});

describe('setting the URL', () => {
  test('a secret works until keys were fetched, because the switch to them is refused before', async () => {
    const { clientSecret } = await register({ jwksUri: '' });
    const violations = [{ parameter: 'jwksUri', message: expect.stringContaining('must have been fetched') }];
    const jwksUri = `${origin}${path}`;
    expect(await refusalOf(update({ ...BY_KEY, jwksUri }))).toMatchObject({
      reason: 'invalid_request',
      violations,
    });
    await update({ jwksUri });
    answers.set(path, { status: 500 });
    await fetchDue();
    expect(await refusalOf(update(BY_KEY))).toMatchObject({ violations });
    await harness.tokens.issueToken({ client: { clientId, clientSecret }, grantType });
    answers.set(path, { body: setOf(named('old')) });
    harness.clock.advance(5 * MINUTE);
    await fetchDue();
    await update(BY_KEY);
    expect(await present()).toBe('token');
  });

  test('keys and the URL end each other, registered keys once those of the URL were fetched', async () => {
    await register({ ...BY_KEY, jwksUri: '', jwks: setOf(named('old')) });
    answers.set(path, { body: setOf(named('next', next)) });
    // A client that sends all fields says that there is no other set.
    await update({ jwksUri: `${origin}${path}`, jwks: '' });
    expect([await present('old'), await present('next')]).toEqual(['token', 'unauthorized']);
    await fetchDue();
    expect([await present('old'), await present('next')]).toEqual(['unauthorized', 'token']);
    expect(await refusalOf(update({ jwksUri: '' }))).toMatchObject({
      violations: [{ parameter: 'jwksUri' }],
    });
    expect(await update({ jwks: setOf(named('old')) })).toMatchObject({ jwksUri: '' });
    expect([await present('old'), await present('next')]).toEqual(['token', 'unauthorized']);
    harness.clock.advance(5 * MINUTE);
    await fetchDue();
    expect(requestsOf()).toBe(1);
  });

  test.each<[string, object, RegExp]>([
    ['with the keys too', { jwksUri: 'https://app.test/', jwks: setOf(old.publicJwk) }, /together with jwks/],
    ['of http', { jwksUri: 'http://app.test/keys' }, /https/],
    ['of the metadata of a cloud', { jwksUri: 'https://169.254.169.254/' }, /private or reserved address/],
    ['of a private IPv6 address', { jwksUri: 'https://[fd00:ec2::254]/' }, /private or reserved address/],
    ['with a password', { jwksUri: 'https://a:b@app.test/' }, /user information/],
    ['with a fragment', { jwksUri: 'https://app.test/#keys' }, /fragment/],
    ['of 513 characters', { jwksUri: `https://app.test/${'x'.repeat(496)}` }, /at most 512 characters/],
  ])('is refused for one %s, at a registration too', async (_what, settings, message) => {
    const violations = [{ parameter: 'jwksUri', message: expect.stringMatching(message) }];
    expect(await refusalOf(register(settings))).toMatchObject({ violations });
    await register({ jwksUri: '' });
    expect(await refusalOf(update(settings))).toMatchObject({ violations });
  });
});

test('a restore suspends the app until an operator confirms, and a fetch from the same URL confirms nothing', async () => {
  await register();
  await fetchDue();
  await harness.restores.declareRestore({});
  harness.clock.advance(5 * MINUTE);
  await fetchDue();
  expect([await present(), requestsOf()]).toEqual(['unauthorized', 2]);
  const { latest } = await harness.restores.getRestoreStatus({});
  await harness.restores.confirmPart({ number: latest?.number ?? 0, clientId });
  expect(await present()).toBe('token');
});

test('another URL does not bring back the keys that a restore suspended', async () => {
  // Without a secret, whose suspension would last.
  await register({ tokenEndpointAuthMethod: 'private_key_jwt' });
  await fetchDue();
  await harness.restores.declareRestore({});
  answers.set('/failing', { status: 500 });
  await update({ jwksUri: `${origin}/failing` });
  await fetchDue();
  expect(await present()).toBe('unauthorized');
});
