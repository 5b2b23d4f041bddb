import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { TokenStatus } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { AppStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { refusalOf, shareHarness, type TestApp } from './harness.ts';

const harness = await shareHarness();

let app: TestApp;

beforeEach(async () => {
  app = await harness.registerApp();
});

const DAY = 86_400;

async function rotate(overlapSeconds = 0) {
  return harness.apps.rotateSecret({ clientId: app.clientId, overlapSeconds }, await harness.as('dev'));
}
async function isAdmitted(clientSecret: string): Promise<boolean> {
  const client = { clientId: app.clientId, clientSecret };
  const outcome = harness.authorizations.authenticateClient({ client });
  return outcome.then(
    () => true,
    (error: { reason: string }) => {
      expect(error.reason).toBe('unauthorized');
      return false;
    },
  );
}
const admitted = (...secrets: string[]) => Promise.all(secrets.map(isAdmitted));
describe('a rotation with an overlap', () => {
  test('lets both secrets work until its end, and the app says which one that is', async () => {
    const old = app.clientSecret;
    const rotated = await rotate(DAY);
    const end = timestampFromDate(new Date(harness.clock.now().getTime() + DAY * 1000));
    const previous = { previousSecretLast4: old.slice(-4), previousSecretExpiresAt: end };
    expect(rotated).toMatchObject(previous);
    expect(await admitted(old, rotated.clientSecret)).toEqual([true, true]);
    expect(await harness.readApp(app.clientId)).toMatchObject({
      secretLast4: rotated.secretLast4,
      ...previous,
    });
    harness.clock.advance(DAY * 1000 - 1);
    expect(await admitted(old, rotated.clientSecret)).toEqual([true, true]);
    harness.clock.advance(1);
    expect(await admitted(old, rotated.clientSecret)).toEqual([false, true]);
    const read = await harness.readApp(app.clientId);
    expect([read?.previousSecretLast4, read?.previousSecretExpiresAt]).toEqual(['', undefined]);
  });

  test('serves tokens to both, and the tokens do not belong to a secret', async () => {
    const issued = await harness.exchange(app, await harness.obtainCode(app));
    const { clientSecret } = await rotate(DAY);
    const renewed = await harness.refresh({ ...app, clientSecret }, issued.refreshToken);
    expect((await harness.refresh(app, renewed.refreshToken)).accessToken).toMatch(/^phds_at_/);
  });

  test('keeps one old secret at most: the next rotation ends the oldest, with or without an overlap', async () => {
    const first = app.clientSecret;
    const { clientSecret: second } = await rotate(DAY);
    const { clientSecret: third } = await rotate(DAY);
    expect(await admitted(first, second, third)).toEqual([false, true, true]);
    const { clientSecret: fourth } = await rotate();
    expect(await admitted(first, second, third, fourth)).toEqual([false, false, false, true]);
    expect((await harness.readApp(app.clientId))?.previousSecretLast4).toBe('');
  });

  test('has one winner when two rotations meet: at most two secrets work', async () => {
    const rotations = await Promise.all([1, 2, 3, 4].map(() => rotate(DAY)));
    const outcomes = await admitted(app.clientSecret, ...rotations.map(({ clientSecret }) => clientSecret));
    expect(outcomes.filter(Boolean)).toHaveLength(2);
    expect(outcomes[0]).toBe(false);
  });

  test('ends with the suspension of the app for as long as it lasts, and with its revocation for good', async () => {
    const old = app.clientSecret;
    const { clientSecret } = await rotate(7 * DAY);
    await harness.setStatus(app, AppStatus.SUSPENDED);
    expect(await admitted(old, clientSecret)).toEqual([false, false]);
    await harness.setStatus(app, AppStatus.ACTIVE);
    expect(await admitted(old, clientSecret)).toEqual([true, true]);
    await harness.setStatus(app, AppStatus.REVOKED);
    await harness.setStatus(app, AppStatus.ACTIVE);
    expect(await admitted(old, clientSecret)).toEqual([false, false]);
    const { clientSecret: renewed, previousSecretLast4 } = await rotate(DAY);
    expect(previousSecretLast4).toBe('');
    expect(await admitted(old, clientSecret, renewed)).toEqual([false, false, true]);
  });

  test('of more than seven days is refused and changes nothing', async () => {
    const refusal = await refusalOf(rotate(7 * DAY + 1));
    expect(refusal).toMatchObject({
      reason: 'invalid_request',
      violations: [{ parameter: 'overlapSeconds', message: 'must be at most 604800' }],
    });
    expect(await admitted(app.clientSecret)).toEqual([true]);
    expect((await rotate(7 * DAY)).clientSecret).toMatch(/^phds_cs_/);
  });
});

describe('a rotation without an overlap', () => {
  test('ends the old secret before it answers, and no token', async () => {
    const { accessToken } = await harness.exchange(app, await harness.obtainCode(app));
    const { clientSecret, secretLast4, previousSecretLast4, previousSecretExpiresAt } = await rotate();
    expect(secretLast4).toBe(clientSecret.slice(-4));
    expect([previousSecretLast4, previousSecretExpiresAt]).toEqual(['', undefined]);
    expect(await admitted(app.clientSecret, clientSecret)).toEqual([false, true]);
    expect((await harness.introspect(accessToken)).status).toBe(TokenStatus.LIVE);
  });
});
