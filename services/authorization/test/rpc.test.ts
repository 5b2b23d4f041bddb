import { describe, expect, test } from '@jest/globals';
import { TokenService, TokenStatus } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { createBatchedCalls } from '@phds/service-kit/rpc/batch-rpc';
import { decodeJwt } from 'jose';
import { toFakeSub } from './fake-consent.ts';
import { HEART, REDIRECT_URI, reasonOf, shareHarness, toHash } from './harness.ts';

const harness = await shareHarness();

describe('another service of the deployment', () => {
  const { tokensAsService } = harness;

  test('introspects a token by itself or by its hash, and gets neither an assertion nor the `sub` of the app', async () => {
    const app = await harness.registerApp();
    const { accessToken } = await harness.exchange(app, await harness.obtainCode(app, { scope: HEART }));
    const tokenHash = toHash(accessToken);
    const seen = await tokensAsService.introspect({ token: accessToken });
    expect(seen).toMatchObject({
      status: TokenStatus.LIVE,
      principal: { clientId: app.clientId, userId: 'ada', scopes: [HEART], grant: { sub: '' } },
      assertion: '',
    });
    expect(await tokensAsService.introspect({ tokenHash })).toEqual(seen);
    const { assertion } = await harness.tokens.introspect({ tokenHash });
    const sub = toFakeSub({ userId: 'ada', clientId: app.clientId });
    expect(decodeJwt(assertion)).toMatchObject({ app_sub: sub });
    const both = tokensAsService.introspect({ token: accessToken, tokenHash });
    expect(await reasonOf(both)).toBe('invalid_request');
  });

  test.each(['', 'phds_at_', `phds_at_${'x'.repeat(200)}`, 'a secret of another kind'])(
    'learns of %j only that it is no token',
    async (token) => {
      const asked = tokensAsService.introspect({ token });
      if (token === '') expect(await reasonOf(asked)).toBe('invalid_request');
      else expect(await asked).toMatchObject({ status: TokenStatus.UNKNOWN });
    },
  );
});

describe('in a batch', () => {
  test('a refresh that is repeated answers the same pair, and the exchange of a code does not', async () => {
    const app = await harness.registerApp();
    const { issueToken } = TokenService.method;
    const issue = createBatchedCalls({
      method: issueToken,
      batch: harness.tokens.issueTokens,
      deadlineMs: 20_000,
    });
    const code = { client: app, grantType: 'authorization_code', redirectUri: REDIRECT_URI };
    const exchange = { ...code, code: await harness.obtainCode(app) };
    const { refreshToken } = await issue({ request: exchange });
    const refresh = { client: app, grantType: 'refresh_token', refreshToken };
    const lost = await issue({ request: refresh });
    expect(await harness.tokens.issueToken(refresh)).toEqual(lost);
    expect(await reasonOf(harness.tokens.issueToken(exchange))).toBe('invalid_grant');
  });

  test('tokens that are introspected at once are all checked in the ledger', async () => {
    const app = await harness.registerApp();
    const { accessToken } = await harness.tokens.issueToken({ client: app, grantType: 'client_credentials' });
    const answers = await Promise.all(Array.from({ length: 150 }, () => harness.introspect(accessToken)));
    expect(answers.filter(({ ledgerChecked }) => !ledgerChecked)).toEqual([]);
  });
});
