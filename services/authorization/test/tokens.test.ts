import { beforeEach, describe, expect, test } from '@jest/globals';
import { TokenStatus } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { AppStatus, GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { newSecret } from '@phds/service-kit/secrets';
import { decodeJwt } from 'jose';
import { toDate } from './fake-consent.ts';
import { reasonOf, shareHarness, type TestApp, toHash } from './harness.ts';

const harness = await shareHarness();

let app: TestApp;

beforeEach(async () => {
  harness.consent.away.clear();
  app = await harness.registerApp();
});

const start = async () => harness.exchange(app, await harness.obtainCode(app));
const revoke = (client: TestApp, token: string) => harness.tokens.revokeToken({ client, token });
const statusOf = async (token: string) => (await harness.introspect(token)).status;
const isActive = async (client: TestApp, token: string) =>
  (await harness.tokens.introspectOwnToken({ client, token })).active;
const lastGrant = () => [...harness.consent.grants.values()].at(-1)!;

describe('revocation', () => {
  test('of an access token revokes only that token', async () => {
    const issued = await start();
    await revoke(app, issued.accessToken);
    expect(await statusOf(issued.accessToken)).toBe(TokenStatus.DEAD);
    const next = await harness.refresh(app, issued.refreshToken);
    expect(await statusOf(next.accessToken)).toBe(TokenStatus.LIVE);
  });

  test.each(['current', 'used'])('of a %s refresh token revokes its whole family', async (which) => {
    const first = await start();
    const second = await harness.refresh(app, first.refreshToken);
    await revoke(app, which === 'used' ? first.refreshToken : second.refreshToken);
    expect(await statusOf(first.accessToken)).toBe(TokenStatus.DEAD);
    expect(await statusOf(second.accessToken)).toBe(TokenStatus.DEAD);
    expect(await reasonOf(harness.refresh(app, second.refreshToken))).toBe('invalid_grant');
  });

  test("gives the same response for own, unknown, other apps', expired, dead and malformed tokens", async () => {
    const stranger = await harness.registerApp();
    const [foreign, expired, dead] = [await start(), await start(), await start()];
    await revoke(app, dead.accessToken);
    const answers = [
      await revoke(app, dead.accessToken),
      await revoke(app, newSecret('access_token')),
      await revoke(app, newSecret('refresh_token')),
      await revoke(app, newSecret('client_secret')),
      await revoke(app, 'nonsense'),
      await revoke(stranger, foreign.accessToken),
      await revoke(stranger, foreign.refreshToken),
    ];
    expect(await statusOf(foreign.accessToken)).toBe(TokenStatus.LIVE);
    harness.clock.advance(3_600_000);
    answers.push(await revoke(app, expired.accessToken));
    expect(answers.map(({ clientId, ...others }) => [clientId, Object.keys(others)])).toEqual(
      [app, app, app, app, app, stranger, stranger, app].map((by) => [by.clientId, ['$typeName']]),
    );
    expect((await harness.refresh(app, foreign.refreshToken)).accessToken).toMatch(/^phds_at_/);
  });

  test('answers that the outcome is unknown while the ledger is unavailable, and works when repeated', async () => {
    const issued = await start();
    harness.consent.away.add('*');
    expect(await reasonOf(revoke(app, issued.accessToken))).toBe('unavailable');
    expect(await reasonOf(revoke(app, issued.refreshToken))).toBe('unavailable');
    harness.consent.away.clear();
    expect(await statusOf(issued.accessToken)).toBe(TokenStatus.LIVE);
    await revoke(app, issued.refreshToken);
    expect(await statusOf(issued.accessToken)).toBe(TokenStatus.DEAD);
  });

  test('revokes in the ledger a token that only its own fast clock considers expired', async () => {
    const issued = await start();
    const { familyId } = (await harness.introspect(issued.accessToken)).principal!;
    harness.clock.advance(40 * 86_400_000);
    await revoke(app, issued.accessToken);
    await revoke(app, issued.refreshToken);
    expect(harness.consent.revokedTokens).toContain(Buffer.from(toHash(issued.accessToken)).toString('hex'));
    expect(harness.consent.revokedFamilies).toContain(familyId);
  });

  test('names a missing token, and refuses a wrong secret before that', async () => {
    expect(await reasonOf(harness.tokens.revokeToken({ client: app }))).toBe('invalid_request');
    const client = { ...app, clientSecret: newSecret('client_secret') };
    expect(await reasonOf(harness.tokens.revokeToken({ client }))).toBe('unauthorized');
  });
});

describe('introspection by the app', () => {
  test("describes the app's own working access and refresh tokens", async () => {
    const issued = await start();
    const access = await harness.tokens.introspectOwnToken({ client: app, token: issued.accessToken });
    expect(access).toMatchObject({
      active: true,
      scope: issued.scope,
      clientId: app.clientId,
      tokenType: 'access_token',
      grantId: issued.grantId,
    });
    expect(toDate(access.expiresAt).getTime() - toDate(access.issuedAt).getTime()).toBe(3_600_000);
    const refresh = await harness.tokens.introspectOwnToken({ client: app, token: issued.refreshToken });
    expect(refresh).toMatchObject({ active: true, tokenType: 'refresh_token', grantId: issued.grantId });
  });

  test("returns nothing about other apps', unknown, used, revoked and expired tokens", async () => {
    const stranger = await harness.registerApp();
    const first = await start();
    const second = await harness.refresh(app, first.refreshToken);
    expect(await isActive(stranger, second.accessToken)).toBe(false);
    expect(await isActive(stranger, second.refreshToken)).toBe(false);
    expect(await isActive(app, newSecret('access_token'))).toBe(false);
    expect(await isActive(app, 'nonsense')).toBe(false);
    expect(await isActive(app, first.refreshToken)).toBe(false);
    await revoke(app, first.accessToken);
    expect(await isActive(app, first.accessToken)).toBe(false);
    lastGrant().status = GrantStatus.REVOKED;
    expect(await isActive(app, second.accessToken)).toBe(false);
    expect(await isActive(app, second.refreshToken)).toBe(false);
  });
});

describe('introspection by the gateway', () => {
  test('returns the facts of the grant and a signed assertion about them', async () => {
    const issued = await start();
    lastGrant().dataFrom = '2025-06-01';
    const answer = await harness.introspect(issued.accessToken);
    expect(answer).toMatchObject({ status: TokenStatus.LIVE, ledgerChecked: true });
    expect(answer.principal?.grant).toMatchObject({ status: GrantStatus.ACTIVE, dataFrom: '2025-06-01' });
    expect(decodeJwt(answer.assertion)).toMatchObject({
      aud: 'health-data',
      sub: 'ada',
      client_id: app.clientId,
      grant_id: issued.grantId,
      family_id: answer.principal?.familyId,
      scope: issued.scope,
      token_hash: Buffer.from(toHash(issued.accessToken)).toString('base64url'),
      data_from: '2025-06-01',
    });
  });

  test('reports expired for 24 hours, whatever else happened, and dead after that', async () => {
    const issued = await start();
    await revoke(app, issued.accessToken);
    await harness.setStatus(app, AppStatus.REVOKED);
    expect(await statusOf(issued.accessToken)).toBe(TokenStatus.DEAD);
    harness.clock.advance(3_600_000);
    expect(await statusOf(issued.accessToken)).toBe(TokenStatus.EXPIRED);
    harness.clock.advance(86_400_000);
    expect(await statusOf(issued.accessToken)).toBe(TokenStatus.EXPIRED);
    harness.clock.advance(1);
    expect(await statusOf(issued.accessToken)).toBe(TokenStatus.DEAD);
  });

  test('reports dead for tokens that are revoked only in the ledger', async () => {
    const [family, token, grant] = [await start(), await start(), await start()];
    const { principal } = await harness.introspect(family.accessToken);
    harness.consent.revokedFamilies.add(principal!.familyId);
    harness.consent.revokedTokens.add(Buffer.from(toHash(token.accessToken)).toString('hex'));
    lastGrant().status = GrantStatus.REVOKED;
    for (const { accessToken } of [family, token, grant]) {
      expect(await statusOf(accessToken)).toBe(TokenStatus.DEAD);
    }
    const alive = await start();
    harness.consent.apps.get(app.clientId)!.status = AppStatus.SUSPENDED;
    expect(await statusOf(alive.accessToken)).toBe(TokenStatus.DEAD);
  });

  test('reports live with an expired grant when only the consent has ended', async () => {
    const issued = await start();
    lastGrant().status = GrantStatus.EXPIRED;
    const answer = await harness.introspect(issued.accessToken);
    expect(answer.status).toBe(TokenStatus.LIVE);
    expect(answer.principal?.grant?.status).toBe(GrantStatus.EXPIRED);
  });

  test('works without the ledger and states that it was not checked', async () => {
    const issued = await start();
    harness.consent.away.add('checkLiveness');
    const answer = await harness.introspect(issued.accessToken);
    expect(answer).toMatchObject({ status: TokenStatus.LIVE, ledgerChecked: false });
    expect(answer.principal?.grant).toBeUndefined();
    expect(decodeJwt(answer.assertion)['data_from']).toBeUndefined();
  });

  test('refuses an invalid hash, and reports an unknown token as unknown', async () => {
    expect(await reasonOf(harness.tokens.introspect({ tokenHash: new Uint8Array(31) }))).toBe(
      'invalid_request',
    );
    expect(await statusOf(newSecret('access_token'))).toBe(TokenStatus.UNKNOWN);
  });
});
