import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { TokenStatus } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { newSecret } from '@phds/service-kit/secrets';
import type { FakeGrant } from './fake-consent.ts';
import { HEART, race, reasonOf, refusalOf, SLEEP, shareHarness, type TestApp } from './harness.ts';

const harness = await shareHarness();

const app = await harness.registerApp();
const owner = await harness.connect();

const start = async (expiresInDays = 365) =>
  harness.exchange(app, await harness.obtainCode(app, { expiresInDays }));
const statusOf = async (token: string) => (await harness.introspect(token)).status;
/** Moves the uses of refresh tokens into the past, because the database's clock cannot be set. */
const useEarlier = (seconds: number) =>
  owner.query(`UPDATE "authorization".token_family SET rotated_at = rotated_at - $1 * interval '1 second'`, [
    seconds,
  ]);
const lastGrant = () => [...harness.consent.grants.values()].at(-1)!;

describe('a refresh', () => {
  test('rotates, and earlier access tokens stay valid', async () => {
    const first = await start();
    const second = await harness.refresh(app, first.refreshToken);
    expect(second.refreshToken).not.toBe(first.refreshToken);
    expect(second).toMatchObject({ expiresInSeconds: 3600, scope: first.scope, grantId: first.grantId });
    expect(await statusOf(first.accessToken)).toBe(TokenStatus.LIVE);
    expect(await statusOf(second.accessToken)).toBe(TokenStatus.LIVE);
  });

  test('returns the same pair to 50 concurrent calls', async () => {
    const first = await start();
    const { won, lost } = await race(50, () => harness.refresh(app, first.refreshToken));
    expect(lost).toEqual([]);
    expect(new Set(won.map((pair) => `${pair.accessToken} ${pair.refreshToken}`)).size).toBe(1);
    expect(await statusOf(won[0]!.accessToken)).toBe(TokenStatus.LIVE);
  });

  test('can be repeated with the same old token for 60 seconds, and reports the remaining seconds', async () => {
    const first = await start();
    const second = await harness.refresh(app, first.refreshToken);
    harness.clock.advance(55_000);
    await useEarlier(55);
    const again = await harness.refresh(app, first.refreshToken);
    expect(again).toMatchObject({ accessToken: second.accessToken, refreshToken: second.refreshToken });
    expect(again.expiresInSeconds).toBe(3545);
    await useEarlier(6);
    expect(await reasonOf(harness.refresh(app, first.refreshToken))).toBe('invalid_grant');
    expect(await statusOf(second.accessToken)).toBe(TokenStatus.DEAD);
  });

  test.each([120_000, -120_000])('can be repeated at a replica whose clock is %i ms off', async (skewMs) => {
    const first = await start();
    const second = await harness.refresh(app, first.refreshToken);
    harness.clock.advance(skewMs);
    const again = await harness.refresh(app, first.refreshToken);
    expect(again.refreshToken).toBe(second.refreshToken);
    await useEarlier(61);
    expect(await reasonOf(harness.refresh(app, first.refreshToken))).toBe('invalid_grant');
    expect(await statusOf(second.accessToken)).toBe(TokenStatus.DEAD);
  });

  test('cannot be repeated once the successor was used: reuse revokes this family and no other', async () => {
    const other = await start();
    const first = await start();
    const second = await harness.refresh(app, first.refreshToken);
    const third = await harness.refresh(app, second.refreshToken);
    expect(await reasonOf(harness.refresh(app, first.refreshToken))).toBe('invalid_grant');
    expect(await statusOf(first.accessToken)).toBe(TokenStatus.DEAD);
    expect(await statusOf(third.accessToken)).toBe(TokenStatus.DEAD);
    expect(await reasonOf(harness.refresh(app, third.refreshToken))).toBe('invalid_grant');
    expect(await statusOf(other.accessToken)).toBe(TokenStatus.LIVE);
    expect(lastGrant().status).toBe(GrantStatus.ACTIVE);
  });

  test('consumes nothing while consent is unavailable', async () => {
    const first = await start();
    harness.consent.away.add('checkLiveness');
    expect(await reasonOf(harness.refresh(app, first.refreshToken))).toBe('unavailable');
    harness.consent.away.clear();
    harness.clock.advance(120_000);
    expect((await harness.refresh(app, first.refreshToken)).accessToken).toMatch(/^phds_at_/);
  });

  test('that fails together with those of another app names its own app', async () => {
    const other = await harness.registerApp();
    const clients = [app, other, app, other];
    const codes = await Promise.all(clients.map((client) => harness.obtainCode(client)));
    const first = await Promise.all(clients.map((client, at) => harness.exchange(client, codes[at]!)));
    harness.consent.away.add('checkLiveness');
    const refresh = (client: TestApp, at: number) => harness.refresh(client, first[at]!.refreshToken);
    const refusals = await Promise.all(clients.map((client, at) => refusalOf(refresh(client, at))));
    harness.consent.away.clear();
    expect(refusals.map(({ clientId }) => clientId)).toEqual(clients.map(({ clientId }) => clientId));
  });

  test('that ends a family answers only once the ledger has recorded it', async () => {
    const first = await start();
    const second = await harness.refresh(app, first.refreshToken);
    await harness.refresh(app, second.refreshToken);
    harness.consent.away.add('revokeTokens');
    expect(await reasonOf(harness.refresh(app, first.refreshToken))).toBe('unavailable');
    harness.consent.away.clear();
    expect(await reasonOf(harness.refresh(app, first.refreshToken))).toBe('invalid_grant');
    expect(await statusOf(second.accessToken)).toBe(TokenStatus.DEAD);
  });
});

describe('the scope of a refresh', () => {
  test('is refused without effect when it is wider, unknown, or differs from the repeated one', async () => {
    const first = await start();
    expect(await reasonOf(harness.refresh(app, first.refreshToken, 'read:mood'))).toBe('invalid_scope');
    expect(await reasonOf(harness.refresh(app, first.refreshToken, 'read:*'))).toBe('invalid_scope');
    const second = await harness.refresh(app, first.refreshToken, HEART);
    expect(await reasonOf(harness.refresh(app, first.refreshToken, SLEEP))).toBe('invalid_scope');
    expect(await reasonOf(harness.refresh(app, first.refreshToken))).toBe('invalid_scope');
    const again = await harness.refresh(app, first.refreshToken, HEART);
    expect(again.refreshToken).toBe(second.refreshToken);
  });

  test.each(['', 'true'])(
    'may name all in the repeat of one that named none (include_granted_scopes=%s)',
    async (include) => {
      const code = await harness.obtainCode(app, { includeGrantedScopes: include });
      const first = await harness.exchange(app, code);
      const second = await harness.refresh(app, first.refreshToken);
      const again = await harness.refresh(app, first.refreshToken, `${SLEEP} ${HEART}`);
      expect(again).toMatchObject({ accessToken: second.accessToken, refreshToken: second.refreshToken });
      expect(await reasonOf(harness.refresh(app, first.refreshToken, HEART))).toBe('invalid_scope');
    },
  );
});

describe('after a change of DERIVATION_KEY', () => {
  test('a refresh can be repeated, and ends its family when it is repeated too late', async () => {
    const changed = await harness.startInstance({ DERIVATION_KEY: randomBytes(32).toString('base64') });
    const refresh = (refreshToken: string) =>
      changed.issueToken({ client: app, grantType: 'refresh_token', refreshToken });
    const first = await start();
    const second = await harness.refresh(app, first.refreshToken);
    const third = await refresh(second.refreshToken);
    const { accessToken, refreshToken } = await refresh(second.refreshToken);
    expect([accessToken, refreshToken]).toEqual([third.accessToken, third.refreshToken]);
    expect(await reasonOf(harness.refresh(app, second.refreshToken))).toBe('invalid_grant');
    expect(await statusOf(third.accessToken)).toBe(TokenStatus.LIVE);
    await useEarlier(61);
    expect(await reasonOf(refresh(second.refreshToken))).toBe('invalid_grant');
    expect(await statusOf(third.accessToken)).toBe(TokenStatus.DEAD);
  });
});

describe('a family', () => {
  test('lives 30 days from its last refresh', async () => {
    const day = 86_400_000;
    const first = await start();
    harness.clock.advance(29 * day);
    const second = await harness.refresh(app, first.refreshToken);
    harness.clock.advance(29 * day);
    const third = await harness.refresh(app, second.refreshToken);
    harness.clock.advance(30 * day);
    expect(await reasonOf(harness.refresh(app, third.refreshToken))).toBe('invalid_grant');
  });

  test('never outlives the grant', async () => {
    const first = await start(1);
    harness.clock.advance(86_400_000 - 600_000);
    const second = await harness.refresh(app, first.refreshToken);
    expect(second.expiresInSeconds).toBe(600);
    harness.clock.advance(600_000);
    expect(await reasonOf(harness.refresh(app, second.refreshToken))).toBe('invalid_grant');
  });
});

const FAMILY_REVOKED =
  'The refresh token was revoked: at /oauth/revoke, or because its code or a refresh token was used again.';

describe('a refresh that is refused with invalid_grant', () => {
  const messageOf = async (refresh: Promise<unknown>) => {
    const { reason, message, violations } = await refusalOf(refresh);
    expect([reason, violations]).toEqual(['invalid_grant', []]);
    return message;
  };

  test("has the same message for every token that is not the app's own", async () => {
    const stranger = await harness.registerApp();
    const messages = [
      await messageOf(harness.refresh(app, newSecret('refresh_token'))),
      await messageOf(harness.refresh(app, newSecret('access_token'))),
      await messageOf(harness.refresh(app, 'nonsense')),
      await messageOf(harness.refresh(stranger, (await start()).refreshToken)),
    ];
    expect(new Set(messages).size).toBe(1);
  });

  test("states the cause if the token is the app's own", async () => {
    const used = await start();
    const next = await harness.refresh(app, used.refreshToken);
    await harness.refresh(app, next.refreshToken);
    const reuse = () => messageOf(harness.refresh(app, used.refreshToken));
    expect(await reuse()).toBe(
      'The refresh token was used before. It and the tokens that came from it are revoked.',
    );
    expect(await reuse()).toBe(FAMILY_REVOKED);
    expect(await messageOf(harness.refresh(app, next.refreshToken))).toBe(FAMILY_REVOKED);
    const left = await start();
    await harness.tokens.revokeToken({ client: app, token: left.refreshToken });
    expect(await messageOf(harness.refresh(app, left.refreshToken))).toBe(FAMILY_REVOKED);
    const expired = await start();
    harness.clock.advance(30 * 86_400_000);
    expect(await messageOf(harness.refresh(app, expired.refreshToken))).toBe(
      'The refresh token has expired.',
    );
  });

  const change = (changes: Partial<FakeGrant>) => () => Object.assign(lastGrant(), changes);

  test.each<[string, (issued: Awaited<ReturnType<typeof start>>) => unknown, string]>([
    [
      'the grant was revoked',
      change({ status: GrantStatus.REVOKED }),
      'The grant was revoked; GET /oauth/grants tells when and by whom.',
    ],
    ['the grant has expired', change({ status: GrantStatus.EXPIRED }), 'The grant has expired.'],
    ['the grant has lost every scope', change({ scopes: [] }), 'The person has withdrawn every scope.'],
    [
      'the grant no longer exists after an erasure',
      ({ grantId }) => harness.consent.grants.delete(grantId),
      'The grant no longer exists.',
    ],
    [
      'the family is revoked when only the ledger knows',
      async ({ accessToken }) =>
        harness.consent.revokedFamilies.add((await harness.introspect(accessToken)).principal!.familyId),
      FAMILY_REVOKED,
    ],
  ])('states that %s', async (_, happen, message) => {
    const issued = await start();
    await happen(issued);
    expect(await messageOf(harness.refresh(app, issued.refreshToken))).toBe(message);
  });
});

describe('after many refreshes', () => {
  const ROUNDS = 40;

  let app: TestApp;
  /** Refresh tokens of one family, in their order. */
  let issued: string[];
  let accessToken: string;

  beforeEach(async () => {
    app = await harness.registerApp();
    const first = await harness.exchange(app, await harness.obtainCode(app));
    issued = [first.refreshToken];
    while (issued.length <= ROUNDS) {
      const next = await harness.refresh(app, issued.at(-1)!);
      issued.push(next.refreshToken);
      accessToken = next.accessToken;
    }
  });

  test('a connection has one row', async () => {
    const { rows } = await owner.query(
      'SELECT generation FROM "authorization".token_family WHERE client_id = $1',
      [app.clientId],
    );
    expect(rows).toEqual([{ generation: ROUNDS }]);
  });

  test.each([0, 33])('the family ends when its app uses generation %i again', async (generation) => {
    const stranger = await harness.registerApp();
    const old = issued[generation]!;
    expect(await reasonOf(harness.refresh(stranger, old))).toBe('invalid_grant');
    expect(await statusOf(accessToken)).toBe(TokenStatus.LIVE);
    expect(await reasonOf(harness.refresh(app, old))).toBe('invalid_grant');
    expect(await statusOf(accessToken)).toBe(TokenStatus.DEAD);
  });

  test('the family ends when its first token is revoked', async () => {
    await harness.tokens.revokeToken({ client: app, token: issued[0]! });
    expect(await statusOf(accessToken)).toBe(TokenStatus.DEAD);
  });

  test('a token that was made up from others does nothing', async () => {
    const [secret, , mac] = issued[1]!.split(/_(?=[0-9]+_)|_(?=[^_]*$)/);
    for (const generation of [0, 2, ROUNDS, ROUNDS + 1]) {
      const token = `${secret}_${generation}_${mac}`;
      expect(await reasonOf(harness.refresh(app, token))).toBe('invalid_grant');
      await harness.tokens.revokeToken({ client: app, token });
      expect((await harness.tokens.introspectOwnToken({ client: app, token })).active).toBe(false);
    }
    expect(await statusOf(accessToken)).toBe(TokenStatus.LIVE);
    expect((await harness.refresh(app, issued.at(-1)!)).scope).not.toBe('');
  });
});
