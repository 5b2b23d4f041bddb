import { createServer, type ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { eventually } from '@phds/test-kit/conditions';
import { FakeClock } from '@phds/test-kit/fake-clock';
import { listenOnLoopback } from '@phds/test-kit/loopback';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { openSessionKeys } from '../src/trust/keys.ts';
import { createSessionVerifier, SESSION_TOKEN_TYPE } from '../src/trust/session.ts';

const ISSUER = 'https://idp.example';
const DAY_MS = 24 * 3_600_000;

const first = await createKey('first');
const second = await createKey('second');

let provider: KeyProvider;
let clock: FakeClock;
/** Milliseconds of the clock that is never set back. */
let elapsedMs: number;
let opened: AsyncDisposableStack;
let failures: unknown[];

beforeEach(async () => {
  provider = new KeyProvider([first]);
  await provider.start();
  clock = new FakeClock();
  elapsedMs = 0;
  // The clock of jose.
  jest.spyOn(Date, 'now').mockImplementation(() => clock.now().getTime());
  opened = new AsyncDisposableStack();
  opened.defer(() => provider.stop());
  failures = [];
});
afterEach(async () => {
  jest.restoreAllMocks();
  await opened.disposeAsync();
});

/** Opens the keys of the provider, and returns a verifier with them. */
function open({ refreshMs = DAY_MS, url = provider.url } = {}) {
  const onFailure = (error: unknown) => void failures.push(error);
  const jwks = opened.use(
    openSessionKeys(url, { now: () => elapsedMs, onFailure, refreshMs, timeoutMs: 2_000 }),
  );
  return createSessionVerifier({ issuer: ISSUER, audience: ['phds'], jwks, clock });
}

function advance(milliseconds: number): void {
  clock.advance(milliseconds);
  elapsedMs += milliseconds;
}

/** A session of this moment. */
function sign({ kid, privateKey }: Key, header: { readonly kid?: string } = { kid }): Promise<string> {
  const now = Math.floor(clock.now().getTime() / 1000);
  return new SignJWT({ iss: ISSUER, aud: 'phds', sub: 'ada', iat: now, exp: now + 60 })
    .setProtectedHeader({ alg: 'EdDSA', typ: SESSION_TOKEN_TYPE, ...header })
    .sign(privateKey);
}

const BROKEN_ANSWERS = [
  (response: ServerResponse) => response.writeHead(500).end(),
  (response: ServerResponse) => response.writeHead(302, { location: '/elsewhere' }).end(),
  (response: ServerResponse) => response.end('<h1>Maintenance</h1>'),
  (response: ServerResponse) => response.end('{"keys": "none"}'),
  (response: ServerResponse) => response.destroy(),
];

const ADA = { userId: 'ada' };
const UNAUTHORIZED = { reason: 'unauthorized', message: '' };
const UNAVAILABLE = { reason: 'unavailable', retryAfterSeconds: 1 };

describe('while the provider is unavailable', () => {
  test('the keys are known although no session came before it was', async () => {
    const verify = open({ refreshMs: 10 });
    // The second fetch begins after the first has ended.
    await eventually(() => provider.requests >= 2);
    provider.stop();
    expect(await verify(await sign(first))).toMatchObject(ADA);
  });

  test('a failed fetch in the background is reported and changes nothing', async () => {
    const verify = open({ refreshMs: 10 });
    expect(await verify(await sign(first))).toMatchObject(ADA);
    for (const answer of BROKEN_ANSWERS) {
      provider.answer = answer;
      const seen = provider.requests;
      failures = [];
      await eventually(() => provider.requests > seen && failures.length > 0);
      expect(await verify(await sign(first))).toMatchObject(ADA);
    }
  });

  test('a session with an unknown key cannot be judged, others go on with the keys that were fetched, also three days later', async () => {
    const verify = open();
    expect(await verify(await sign(first))).toMatchObject(ADA);
    provider.stop();
    for (const laterMs of [5_000, 3 * DAY_MS]) {
      advance(laterMs);
      await expect(verify(await sign(second))).rejects.toMatchObject(UNAVAILABLE);
      expect(await verify(await sign(first))).toMatchObject(ADA);
    }
  });

  test('a service that never had the keys cannot judge, asks once a second, and goes on when they are back', async () => {
    provider.answer = (response) => response.writeHead(500).end();
    const verify = open();
    for (let requests = 0; requests < 20; requests += 1) {
      await expect(verify(await sign(first))).rejects.toMatchObject(UNAVAILABLE);
    }
    expect(provider.requests).toBe(1);
    provider.answer = provider.sendKeys;
    advance(999);
    await expect(verify(await sign(first))).rejects.toMatchObject(UNAVAILABLE);
    advance(1);
    expect(await verify(await sign(first))).toMatchObject(ADA);
    expect(provider.requests).toBe(2);
  });
});

describe('after a rotation', () => {
  test('the next session with the new key is accepted, without a restart', async () => {
    const verify = open();
    expect(await verify(await sign(first))).toMatchObject(ADA);
    advance(5_000);
    provider.keys = [first, second];
    expect(await verify(await sign(second))).toMatchObject(ADA);
    expect(await verify(await sign(first))).toMatchObject(ADA);
  });

  test('a removed key ends at the next fetch in the background, without a session of the new one', async () => {
    const verify = open({ refreshMs: 10 });
    expect(await verify(await sign(first))).toMatchObject(ADA);
    provider.keys = [second];
    await eventually(async () => expect(verify(await sign(first))).rejects.toMatchObject(UNAUTHORIZED));
    expect(await verify(await sign(second))).toMatchObject(ADA);
  });

  test('a removed key ends at once when a session of the new one arrives', async () => {
    const verify = open();
    expect(await verify(await sign(first))).toMatchObject(ADA);
    advance(5_000);
    provider.keys = [second];
    expect(await verify(await sign(second))).toMatchObject(ADA);
    await expect(verify(await sign(first))).rejects.toMatchObject(UNAUTHORIZED);
  });

  test('sessions without a key id are judged by all keys of the provider', async () => {
    provider.keys = [first, second];
    const verify = open();
    expect(await verify(await sign(second, {}))).toMatchObject(ADA);
    const foreign = await createKey('foreign');
    await expect(verify(await sign(foreign, {}))).rejects.toMatchObject(UNAUTHORIZED);
  });
});

describe('a flood of sessions with invented keys', () => {
  test('reaches the provider once in five seconds', async () => {
    const verify = open();
    expect(await verify(await sign(first))).toMatchObject(ADA);
    expect(provider.requests).toBe(1);
    const flood = async () => {
      const session = await sign(second);
      const results = await Promise.allSettled(Array.from({ length: 200 }, () => verify(session)));
      for (const result of results) {
        expect(result).toMatchObject({ status: 'rejected', reason: UNAUTHORIZED });
      }
    };
    advance(4_999);
    await flood();
    expect(provider.requests).toBe(1);
    advance(1);
    await flood();
    await flood();
    expect(provider.requests).toBe(2);
    advance(5_000);
    await flood();
    expect(provider.requests).toBe(3);
    expect(await verify(await sign(first))).toMatchObject(ADA);
  });

  test('reaches an unavailable provider once a second', async () => {
    const verify = open();
    expect(await verify(await sign(first))).toMatchObject(ADA);
    provider.answer = (response) => response.writeHead(503).end();
    advance(5_000);
    const session = await sign(second);
    for (let calls = 0; calls < 20; calls += 1) {
      await expect(verify(session)).rejects.toMatchObject(UNAVAILABLE);
    }
    expect(provider.requests).toBe(2);
    advance(1_000);
    await expect(verify(session)).rejects.toMatchObject(UNAVAILABLE);
    expect(provider.requests).toBe(3);
  });

  test('reaches an unavailable provider with one request at a time', async () => {
    const verify = open();
    expect(await verify(await sign(first))).toMatchObject(ADA);
    const { promise, resolve } = Promise.withResolvers<ServerResponse>();
    provider.answer = resolve;
    advance(5_000);
    const session = await sign(second);
    const flood = Promise.allSettled(Array.from({ length: 200 }, () => verify(session)));
    (await promise).writeHead(503).end();
    for (const outcome of await flood) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: UNAVAILABLE });
    }
    expect(provider.requests).toBe(2);
  });

  test('does not wait longer because the clock was set back', async () => {
    const verify = open();
    expect(await verify(await sign(first))).toMatchObject(ADA);
    clock.advance(-DAY_MS);
    elapsedMs += 5_000;
    provider.keys = [second];
    expect(await verify(await sign(second))).toMatchObject(ADA);
  });
});

test('a damaged key of the provider makes its sessions invalid, and no others', async () => {
  const damaged = { ...second, jwk: { ...second.jwk, x: 'AA' } };
  provider.keys = [first, damaged];
  const verify = open();
  await expect(verify(await sign(second))).rejects.toMatchObject(UNAUTHORIZED);
  expect(await verify(await sign(first))).toMatchObject(ADA);
});

test('a key set as text is never fetched', async () => {
  const text = JSON.stringify({ keys: [first.jwk] });
  const verify = open({ url: text, refreshMs: 1 });
  expect(await verify(await sign(first))).toMatchObject(ADA);
  await expect(verify(await sign(second))).rejects.toMatchObject(UNAUTHORIZED);
  expect(provider.requests).toBe(0);
});

test('after disposal nothing is fetched any more', async () => {
  const onFailure = () => undefined;
  const keys = openSessionKeys(provider.url, { onFailure, refreshMs: 1, timeoutMs: 2_000 });
  await eventually(() => provider.requests >= 2);
  await keys[Symbol.asyncDispose]();
  const requests = provider.requests;
  const other = new KeyProvider([first]);
  await other.start();
  opened.defer(() => other.stop());
  // The disposed keys had the same interval, so they would have been fetched in this time.
  open({ url: other.url, refreshMs: 1 });
  await eventually(() => other.requests >= 3);
  expect(provider.requests).toBe(requests);
});

/** A key that signs sessions. */
interface Key {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
}

async function createKey(kid: string): Promise<Key> {
  const { privateKey, publicKey } = await generateKeyPair('EdDSA');
  return { kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: 'EdDSA' } };
}

/** An identity provider whose key set, answer and availability the test changes. */
class KeyProvider {
  keys: readonly Key[];
  requests = 0;
  answer: (response: ServerResponse) => void = this.sendKeys;
  readonly #server = createServer((_, response) => {
    this.requests += 1;
    this.answer(response);
  });
  url = '';

  constructor(keys: readonly Key[]) {
    this.keys = keys;
  }

  async start(): Promise<void> {
    this.url = `http://127.0.0.1:${await listenOnLoopback(this.#server)}/jwks`;
  }

  sendKeys(response: ServerResponse): void {
    response.end(JSON.stringify({ keys: this.keys.map((key) => key.jwk) }));
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
