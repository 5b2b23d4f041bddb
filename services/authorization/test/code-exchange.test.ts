import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TokenStatus } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { AppStatus, GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import type { AppError } from '@phds/service-kit/errors';
import { newSecret } from '@phds/service-kit/secrets';
import type { Harness, TestApp } from './harness.ts';
import { createPkce, HEART, race, reasonOf, refusalOf, SLEEP, startHarness } from './harness.ts';

let harness: Harness;
let app: TestApp;

beforeAll(async () => {
  harness = await startHarness();
  app = await harness.registerApp();
});
afterAll(async () => {
  await harness[Symbol.asyncDispose]();
});

describe('an exchange', () => {
  test('answers a pair for the approved scopes, an hour long at most', async () => {
    const code = await harness.obtainCode(app, { approved: [HEART] });
    const issued = await harness.exchange(app, code);
    expect(issued).toMatchObject({ scope: HEART, expiresInSeconds: 3600 });
    expect(issued.grantId).toMatch(/^grt_/);
    const { status, principal } = await harness.introspect(issued.accessToken);
    expect(status).toBe(TokenStatus.LIVE);
    expect(principal).toMatchObject({ userId: 'ada', clientId: app.clientId, scopes: [HEART] });
  });

  test('never outlives the grant', async () => {
    const code = await harness.obtainCode(app);
    const grant = [...harness.consent.grants.values()].at(-1)!;
    grant.expiresAt = new Date(harness.clock.now().getTime() + 90_500);
    expect((await harness.exchange(app, code)).expiresInSeconds).toBe(90);
  });

  test('has one winner among 50 at once, and the losers end what the winner got', async () => {
    const code = await harness.obtainCode(app);
    const { won, lost } = await race(50, () => harness.exchange(app, code));
    expect(won).toHaveLength(1);
    expect(lost).toEqual(Array(49).fill('invalid_grant'));
    const [pair] = won;
    expect((await harness.introspect(pair!.accessToken)).status).toBe(TokenStatus.DEAD);
    expect(await reasonOf(harness.refresh(app, pair!.refreshToken))).toBe('invalid_grant');
  });

  test('of a used code ends the tokens of that exchange and of no other', async () => {
    const other = await harness.exchange(app, await harness.obtainCode(app));
    const code = await harness.obtainCode(app);
    const issued = await harness.exchange(app, code);
    expect(await reasonOf(harness.exchange(app, code))).toBe('invalid_grant');
    expect((await harness.introspect(issued.accessToken)).status).toBe(TokenStatus.DEAD);
    expect((await harness.introspect(other.accessToken)).status).toBe(TokenStatus.LIVE);
  });

  test('of a used code is a replay even with a wrong redirect URI and after its expiry', async () => {
    const code = await harness.obtainCode(app);
    const issued = await harness.exchange(app, code);
    harness.clock.advance(301_000);
    const replay = harness.exchange(app, code, { redirectUri: 'https://other.test/' });
    expect(await reasonOf(replay)).toBe('invalid_grant');
    expect((await harness.introspect(issued.accessToken)).status).toBe(TokenStatus.DEAD);
  });

  test('by another client has no effect on the owner, before or after the use', async () => {
    const stranger = await harness.registerApp();
    const code = await harness.obtainCode(app);
    for (let attempt = 0; attempt < 6; attempt += 1) {
      expect(await reasonOf(harness.exchange(stranger, code))).toBe('invalid_grant');
    }
    const issued = await harness.exchange(app, code);
    expect(await reasonOf(harness.exchange(stranger, code))).toBe('invalid_grant');
    expect((await harness.introspect(issued.accessToken)).status).toBe(TokenStatus.LIVE);
  });
});

describe('a code', () => {
  test('is burned by five failed attempts of its owner and not by four', async () => {
    const four = await harness.obtainCode(app);
    const five = await harness.obtainCode(app);
    const fail = (code: string) => harness.exchange(app, code, { redirectUri: 'https://app.test/callback' });
    for (let attempt = 0; attempt < 4; attempt += 1) {
      expect([await reasonOf(fail(four)), await reasonOf(fail(five))]).toEqual([
        'invalid_grant',
        'invalid_grant',
      ]);
    }
    await reasonOf(fail(five));
    expect((await harness.exchange(app, four)).accessToken).toMatch(/^phds_at_/);
    expect(await reasonOf(harness.exchange(app, five))).toBe('invalid_grant');
  });

  test('lives 300 seconds', async () => {
    const late = await harness.obtainCode(app);
    harness.clock.advance(300_000);
    expect(await reasonOf(harness.exchange(app, late))).toBe('invalid_grant');
    const intime = await harness.obtainCode(app);
    harness.clock.advance(299_000);
    expect((await harness.exchange(app, intime)).accessToken).toMatch(/^phds_at_/);
  });

  test('is not consumed while the consent service is away', async () => {
    const code = await harness.obtainCode(app);
    harness.consent.away.add('checkLiveness');
    expect(await reasonOf(harness.exchange(app, code))).toBe('unavailable');
    harness.consent.away.clear();
    expect((await harness.exchange(app, code)).accessToken).toMatch(/^phds_at_/);
  });

  test('replayed while the ledger is away is answered "not known", and ends the tokens when asked again', async () => {
    const code = await harness.obtainCode(app);
    const issued = await harness.exchange(app, code);
    harness.consent.away.add('revokeFamily');
    expect(await reasonOf(harness.exchange(app, code))).toBe('unavailable');
    expect((await harness.introspect(issued.accessToken)).status).toBe(TokenStatus.LIVE);
    harness.consent.away.clear();
    expect(await reasonOf(harness.exchange(app, code))).toBe('invalid_grant');
    expect((await harness.introspect(issued.accessToken)).status).toBe(TokenStatus.DEAD);
  });

  test('is worth nothing when the app is suspended between the check and the use', async () => {
    const suspended = await harness.registerApp();
    const code = await harness.obtainCode(suspended);
    harness.consent.onCheckLiveness = async () => {
      harness.consent.onCheckLiveness = () => Promise.resolve();
      await harness.apps.setAppStatus(
        { clientId: suspended.clientId, status: AppStatus.SUSPENDED },
        await harness.as('dev'),
      );
    };
    expect(await reasonOf(harness.exchange(suspended, code))).toBe('unauthorized');
  });
});

test('every cause of invalid_grant at an exchange is answered in the same words', async () => {
  const { challenge, verifier } = createPkce();
  const stranger = await harness.registerApp();
  const fresh = () => harness.obtainCode(app);
  const withPkce = () => harness.obtainCode(app, { codeChallenge: challenge });
  const used = await fresh();
  await harness.exchange(app, used);
  const ended = async (status: GrantStatus) => {
    const code = await fresh();
    [...harness.consent.grants.values()].at(-1)!.status = status;
    return code;
  };
  const expired = await fresh();
  harness.clock.advance(300_000);
  const refusals: AppError[] = [
    await refusalOf(harness.exchange(app, newSecret('authorization_code'))),
    await refusalOf(harness.exchange(app, newSecret('refresh_token'))),
    await refusalOf(harness.exchange(app, 'phds_ac_nonsense')),
    await refusalOf(harness.exchange(app, expired)),
    await refusalOf(harness.exchange(app, used)),
    await refusalOf(harness.exchange(stranger, await fresh())),
    await refusalOf(harness.exchange(app, await fresh(), { redirectUri: 'https://app.test/callback' })),
    await refusalOf(harness.exchange(app, await fresh(), { codeVerifier: verifier })),
    await refusalOf(harness.exchange(app, await withPkce())),
    await refusalOf(harness.exchange(app, await withPkce(), { codeVerifier: createPkce().verifier })),
    await refusalOf(harness.exchange(app, await withPkce(), { codeVerifier: challenge.slice(1) })),
    await refusalOf(harness.exchange(app, await ended(GrantStatus.REVOKED))),
    await refusalOf(harness.exchange(app, await ended(GrantStatus.EXPIRED))),
  ];
  const answers = refusals.map(({ reason, message, violations }) => ({ reason, message, violations }));
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  expect(answers[0]?.reason).toBe('invalid_grant');
  const issued = await harness.exchange(app, await withPkce(), { codeVerifier: verifier });
  expect(issued.scope).toBe(`${HEART} ${SLEEP}`);
});

test('the parameters of the token endpoint are judged after the client, and named', async () => {
  const client = { ...app, clientSecret: newSecret('client_secret') };
  expect(await reasonOf(harness.tokens.issueToken({ client }))).toBe('unauthorized');
  const violationsOf = async (parameters: object) =>
    (await refusalOf(harness.tokens.issueToken({ client: app, ...parameters }))).violations.map(
      ({ parameter }) => parameter,
    );
  expect(await violationsOf({})).toEqual(['grant_type']);
  expect(await violationsOf({ grantType: '' })).toEqual(['grant_type']);
  expect(await violationsOf({ grantType: 'authorization_code' })).toEqual(['code']);
  expect(await violationsOf({ grantType: 'authorization_code', code: 'x' })).toEqual(['redirect_uri']);
  expect(await violationsOf({ grantType: 'refresh_token' })).toEqual(['refresh_token']);
  const password = harness.tokens.issueToken({ client: app, grantType: 'password' });
  expect(await reasonOf(password)).toBe('unsupported_grant_type');
});
