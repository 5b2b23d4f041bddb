import type { MessageInitShape } from '@bufbuild/protobuf';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type IssueTokenResponse, TokenService } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { type CallStreams, openCallStreams } from '@phds/service-kit/rpc/call-streams';
import { eventually } from '@phds/test-kit/conditions';
import { type Harness, REDIRECT_URI, reasonOf, refusalOf, startHarness, type TestApp } from './harness.ts';

const { issueToken: carried, issueTokens: method } = TokenService.method;
type Issue = typeof carried;
type Request = MessageInitShape<Issue['input']>;

let harness: Harness;
let app: TestApp;
let streams: CallStreams<Issue['input'], Issue['output']>;
beforeAll(async () => {
  harness = await startHarness();
  app = await harness.registerApp();
  const { address } = harness;
  const tokens = () => harness.callAs('gateway');
  const onFailure = () => undefined;
  streams = openCallStreams({ address, audience: 'authorization', tokens, method, carried, onFailure });
  await eventually(() => streams.open.length > 0);
});
afterAll(async () => {
  streams?.[Symbol.dispose]();
  await harness?.[Symbol.asyncDispose]();
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

test('calls of a message are refused over a stream exactly as by the unary rpc', async () => {
  const requests: Request[] = [
    { client: { ...app, clientSecret: 'wrong' }, grantType: 'client_credentials' },
    { client: { clientId: 'app_unknown', clientSecret: app.clientSecret }, grantType: 'client_credentials' },
    { client: app, grantType: 'password' },
    { client: app, grantType: 'authorization_code', code: 'x', redirectUri: 'https://x.test' },
    { client: app, grantType: 'refresh_token', refreshToken: 'x' },
    { client: app, grantType: 'client_credentials', scope: 'unknown' },
  ];
  const refusal = async (answer: Promise<unknown>) => {
    const error = await refusalOf(answer);
    return { ...error, message: error.message };
  };
  const streamed = await Promise.all(requests.map((request) => refusal(issue(request))));
  const unary = await Promise.all(requests.map((request) => refusal(harness.tokens.issueToken(request))));
  expect(streamed).toEqual(unary);
});

test('tokens that are introspected at once are all checked in the ledger', async () => {
  const { accessToken } = await issue({ client: app, grantType: 'client_credentials' });
  const answers = await Promise.all(Array.from({ length: 150 }, () => harness.introspect(accessToken)));
  expect(answers.filter(({ ledgerChecked }) => !ledgerChecked)).toEqual([]);
});
