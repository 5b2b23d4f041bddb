import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TokenStatus } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { AppStatus, GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { newSecret } from '@phds/service-kit/secrets';
import type { Harness, TestApp } from './harness.ts';
import { HEART, race, reasonOf, refusalOf, SLEEP, startHarness } from './harness.ts';

let harness: Harness;
let app: TestApp;

beforeAll(async () => {
  harness = await startHarness();
  app = await harness.registerApp();
});
afterAll(async () => {
  await harness[Symbol.asyncDispose]();
});

const start = async (expiresInDays = 365) =>
  harness.exchange(app, await harness.obtainCode(app, { expiresInDays }));
const statusOf = async (token: string) => (await harness.introspect(token)).status;
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
    harness.clock.advance(60_000);
    const again = await harness.refresh(app, first.refreshToken);
    expect(again).toMatchObject({ accessToken: second.accessToken, refreshToken: second.refreshToken });
    expect(again.expiresInSeconds).toBe(3540);
    harness.clock.advance(1);
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

  test('of a used token by another client has no effect', async () => {
    const stranger = await harness.registerApp();
    const first = await start();
    const second = await harness.refresh(app, first.refreshToken);
    await harness.refresh(app, second.refreshToken);
    expect(await reasonOf(harness.refresh(stranger, first.refreshToken))).toBe('invalid_grant');
    expect(await statusOf(second.accessToken)).toBe(TokenStatus.LIVE);
  });

  test('consumes nothing while consent is unavailable', async () => {
    const first = await start();
    harness.consent.away.add('checkLiveness');
    expect(await reasonOf(harness.refresh(app, first.refreshToken))).toBe('unavailable');
    harness.consent.away.clear();
    harness.clock.advance(120_000);
    expect((await harness.refresh(app, first.refreshToken)).accessToken).toMatch(/^phds_at_/);
  });

  test('that ends a family answers only once the ledger has recorded it', async () => {
    const first = await start();
    const second = await harness.refresh(app, first.refreshToken);
    await harness.refresh(app, second.refreshToken);
    harness.consent.away.add('revokeFamily');
    expect(await reasonOf(harness.refresh(app, first.refreshToken))).toBe('unavailable');
    harness.consent.away.clear();
    expect(await reasonOf(harness.refresh(app, first.refreshToken))).toBe('invalid_grant');
    expect(await statusOf(second.accessToken)).toBe(TokenStatus.DEAD);
  });

  test('of a family that is revoked only in the ledger is refused', async () => {
    const first = await start();
    const { principal } = await harness.introspect(first.accessToken);
    harness.consent.revokedFamilies.add(principal!.familyId);
    expect(await reasonOf(harness.refresh(app, first.refreshToken))).toBe('invalid_grant');
  });

  test.each([
    ['revoked', GrantStatus.REVOKED],
    ['expired', GrantStatus.EXPIRED],
  ])('is refused when the grant is %s', async (_name, status) => {
    const first = await start();
    lastGrant().status = status;
    expect(await reasonOf(harness.refresh(app, first.refreshToken))).toBe('invalid_grant');
  });
});

describe('the scope of a refresh', () => {
  test('narrows the access token but not the family', async () => {
    const first = await start();
    const narrow = await harness.refresh(app, first.refreshToken, HEART);
    expect(narrow.scope).toBe(HEART);
    expect((await harness.introspect(narrow.accessToken)).principal?.scopes).toEqual([HEART]);
    expect((await harness.refresh(app, narrow.refreshToken)).scope).toBe(`${HEART} ${SLEEP}`);
  });

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
    expect(await messageOf(harness.refresh(app, used.refreshToken))).toMatch(/used before.*revoked/);
    expect(await messageOf(harness.refresh(app, used.refreshToken))).toMatch(/expired or was revoked/);
    const revoked = await start();
    lastGrant().status = GrantStatus.REVOKED;
    expect(await messageOf(harness.refresh(app, revoked.refreshToken))).toMatch(
      /grant has expired or was revoked/,
    );
  });
});

describe('client credentials', () => {
  test('return an hour of a userless token without a refresh token', async () => {
    const issued = await harness.tokens.issueToken({ client: app, grantType: 'client_credentials' });
    expect(issued).toMatchObject({ expiresInSeconds: 3600, refreshToken: '', grantId: '' });
    expect(issued.scope.split(' ')).toHaveLength(22);
    const { status, principal, assertion } = await harness.introspect(issued.accessToken);
    expect(status).toBe(TokenStatus.LIVE);
    expect(principal).toMatchObject({ userId: '', grantId: '', familyId: '' });
    expect(assertion).toBe('');
  });

  test('return registered scopes only', async () => {
    const client = await harness.registerApp({ scopes: [HEART] });
    const ask = (scope: string) =>
      harness.tokens.issueToken({ client, grantType: 'client_credentials', scope });
    expect((await ask(HEART)).scope).toBe(HEART);
    expect(await reasonOf(ask(SLEEP))).toBe('invalid_scope');
    expect(await reasonOf(ask('nonsense'))).toBe('invalid_scope');
  });

  test('are refused once the ledger reports that the app is not active', async () => {
    const client = await harness.registerApp();
    harness.consent.apps.get(client.clientId)!.status = AppStatus.SUSPENDED;
    const issue = harness.tokens.issueToken({ client, grantType: 'client_credentials' });
    expect(await reasonOf(issue)).toBe('unauthorized');
  });
});
