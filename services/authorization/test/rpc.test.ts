import type { MessageInitShape } from '@bufbuild/protobuf';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type IssueTokenResponse,
  TokenService,
  TokenStatus,
} from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { type CallStreams, openCallStreams } from '@phds/service-kit/rpc/call-streams';
import { eventually } from '@phds/test-kit/conditions';
import { HEART, REDIRECT_URI, reasonOf, shareHarness, type TestApp, toHash } from './harness.ts';

const harness = await shareHarness();

describe('another service of the deployment', () => {
  const { tokensAsService } = harness;

  test('introspects a token by itself or by its hash, and gets no assertion', async () => {
    const app = await harness.registerApp();
    const { accessToken } = await harness.exchange(app, await harness.obtainCode(app, { scope: HEART }));
    const tokenHash = toHash(accessToken);
    const seen = await tokensAsService.introspect({ token: accessToken });
    expect(seen).toMatchObject({
      status: TokenStatus.LIVE,
      principal: { clientId: app.clientId, userId: 'ada', scopes: [HEART] },
      assertion: '',
    });
    expect(await tokensAsService.introspect({ tokenHash })).toEqual(seen);
    expect((await harness.tokens.introspect({ tokenHash })).assertion).not.toBe('');
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

describe('over a stream', () => {
  const { issueToken: carried, issueTokens: method } = TokenService.method;
  type Issue = typeof carried;
  type Request = MessageInitShape<Issue['input']>;

  let app: TestApp;
  let streams: CallStreams<Issue['input'], Issue['output']>;
  beforeAll(async () => {
    app = await harness.registerApp();
    const { address } = harness;
    const tokens = () => harness.callAs('gateway');
    const onFailure = () => undefined;
    streams = openCallStreams({ address, audience: 'authorization', tokens, method, carried, onFailure });
    await eventually(() => streams.open.length > 0);
  });
  afterAll(async () => {
    streams?.[Symbol.dispose]();
  });

  /** Asks for tokens over the stream. */
  function issue(request: Request): Promise<IssueTokenResponse> {
    return new Promise((resolve, reject) =>
      streams.open[0]?.send([{ request, timeoutMs: 20_000, resolve, reject }]),
    );
  }

  test('a refresh that is repeated by the unary rpc answers the same pair, and the exchange of a code does not', async () => {
    const code = { client: app, grantType: 'authorization_code', redirectUri: REDIRECT_URI };
    const exchange = { ...code, code: await harness.obtainCode(app) };
    const { refreshToken } = await issue(exchange);
    const refresh = { client: app, grantType: 'refresh_token', refreshToken };
    const lost = await issue(refresh);
    expect(await harness.tokens.issueToken(refresh)).toEqual(lost);
    expect(await reasonOf(harness.tokens.issueToken(exchange))).toBe('invalid_grant');
  });

  test('tokens that are introspected at once are all checked in the ledger', async () => {
    const { accessToken } = await issue({ client: app, grantType: 'client_credentials' });
    const answers = await Promise.all(Array.from({ length: 150 }, () => harness.introspect(accessToken)));
    expect(answers.filter(({ ledgerChecked }) => !ledgerChecked)).toEqual([]);
  });
});
