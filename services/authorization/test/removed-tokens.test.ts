import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { TokenStatus } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { newSecret } from '@phds/service-kit/secrets';
import pg from 'pg';
import { type Harness, reasonOf, startHarness, type TestApp, toHash } from './harness.ts';

const DAY_MS = 86_400_000;

let harness: Harness;
let owner: pg.Client;
let app: TestApp;
/** Refresh tokens of one family, in their order; the first 41 have expired, and rows of them are removed. */
let issued: string[];
let accessToken: string;

beforeEach(async () => {
  harness ??= await startHarness();
  if (owner === undefined) {
    owner = new pg.Client({ connectionString: harness.database.ownerUrl });
    await owner.connect();
  }
  app = await harness.registerApp();
  const first = await harness.exchange(app, await harness.obtainCode(app, { expiresInDays: 365 }));
  issued = [first.refreshToken];
  const refresh = async () => {
    const next = await harness.refresh(app, issued.at(-1) ?? '');
    issued.push(next.refreshToken);
    accessToken = next.accessToken;
  };
  while (issued.length < 41) await refresh();
  harness.clock.advance(29 * DAY_MS);
  await refresh();
  harness.clock.advance(2 * DAY_MS);
  while (issued.length < 66) await refresh();
});
afterAll(async () => {
  await owner?.end();
  await harness?.[Symbol.asyncDispose]();
});

const statusOf = async (token: string) => (await harness.introspect(token)).status;

async function storedGenerations(): Promise<number[]> {
  const { rows } = await owner.query<{ hash: Buffer }>('SELECT hash FROM "authorization".refresh_token');
  const stored = new Set(rows.map(({ hash }) => hash.toString('hex')));
  return issued.flatMap((token, index) =>
    stored.has(Buffer.from(toHash(token)).toString('hex')) ? [index] : [],
  );
}

describe('used refresh tokens of a living family', () => {
  test('are removed once they have expired, except every 32nd', async () => {
    const recent = Array.from({ length: 66 - 41 }, (_, index) => 41 + index);
    expect(await storedGenerations()).toEqual([0, 32, ...recent]);
    expect((await harness.refresh(app, issued.at(-1) ?? '')).scope).not.toBe('');
  });

  test.each([1, 31, 33, 39])(
    'end the family when generation %i is used again after its removal',
    async (generation) => {
      expect(await storedGenerations()).not.toContain(generation);
      const stranger = await harness.registerApp();
      const old = issued[generation] ?? '';
      expect(await reasonOf(harness.refresh(stranger, old))).toBe('invalid_grant');
      expect(await statusOf(accessToken)).toBe(TokenStatus.LIVE);
      expect(await reasonOf(harness.refresh(app, old))).toBe('invalid_grant');
      expect(await statusOf(accessToken)).toBe(TokenStatus.DEAD);
    },
  );

  test('end the family when one is revoked after its removal, and an unknown token ends nothing', async () => {
    expect(await reasonOf(harness.refresh(app, newSecret('refresh_token')))).toBe('invalid_grant');
    expect(await statusOf(accessToken)).toBe(TokenStatus.LIVE);
    await harness.tokens.revokeToken({ client: app, token: issued[5] ?? '' });
    expect(await statusOf(accessToken)).toBe(TokenStatus.DEAD);
  });
});
