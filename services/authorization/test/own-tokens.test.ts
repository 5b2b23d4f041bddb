import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TokenStatus } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { AppStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import type { Harness, TestApp } from './harness.ts';
import { HEART, reasonOf, refusalOf, SLEEP, startHarness } from './harness.ts';

let harness: Harness;
let app: TestApp;

beforeAll(async () => {
  harness = await startHarness();
  app = await harness.registerApp();
});
afterAll(async () => {
  await harness[Symbol.asyncDispose]();
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
    const refusals = [SLEEP, 'nonsense', `${HEART} offline_access`, `${'x'.repeat(80)}"<b>`, '"<b>'].map(
      async (scope) => {
        const { reason, message } = await refusalOf(ask(scope));
        return [reason, message];
      },
    );
    expect(await Promise.all(refusals)).toEqual([
      ['invalid_scope', `Not registered for the app: ${SLEEP}.`],
      ['invalid_scope', "Unknown scope: 'nonsense'."],
      ['invalid_scope', "Unknown scope: 'offline_access'. Refresh tokens are issued without it."],
      ['invalid_scope', `Unknown scope: '${'x'.repeat(64)}'.`],
      ['invalid_scope', "Unknown scope: '??b?'."],
    ]);
  });

  test('are refused once the ledger reports that the app is not active', async () => {
    const client = await harness.registerApp();
    harness.consent.apps.get(client.clientId)!.status = AppStatus.SUSPENDED;
    const issue = harness.tokens.issueToken({ client, grantType: 'client_credentials' });
    expect(await reasonOf(issue)).toBe('unauthorized');
  });
});
