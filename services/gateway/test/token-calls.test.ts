import { create } from '@bufbuild/protobuf';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { IssueTokenResponseSchema, TokenService } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { StreamLost } from '@phds/service-kit/rpc-call-stream';
import type { OpenStreams } from '@phds/service-kit/rpc-streamed-calls';
import { eventually } from '@phds/test-kit/conditions';
import { createTokenCalls, type TokenCalls } from '../src/clients/token-calls.ts';

type Issue = (typeof TokenService)['method']['issueToken'];
type Stream = OpenStreams<Issue['input'], Issue['output']>['open'][number];
type Sent = Parameters<Stream['send']>[0];

const tokenOf = (accessToken: string) => create(IssueTokenResponseSchema, { accessToken });

let batches: Sent[];
let repeated: unknown[];
let calls: TokenCalls;
beforeEach(() => {
  batches = [];
  repeated = [];
  const stream = { load: 0, silentMs: 0, sentAt: 0, send: (sent: Sent) => void batches.push(sent) };
  const issueToken = async (request: unknown) => {
    repeated.push(request);
    return tokenOf('unary');
  };
  calls = createTokenCalls({
    tokens: { issueToken } as never,
    open: (_method, carried) => ({
      open: (carried.name === TokenService.method.issueToken.name ? [stream] : []) as never,
    }),
    deadlineMs: 20_000,
  });
});
afterEach(() => {
  for (const call of batches.flat()) call.reject(new StreamLost(new Error('the test is over'), false));
});

const CODE = { grantType: 'authorization_code', code: 'c' };
const REFRESH = { grantType: 'refresh_token', refreshToken: 'r' };
const OWN = { grantType: 'client_credentials' };

test.each([
  ['refresh', 'may have been executed', REFRESH, true, 'unary'],
  ['userless token', 'may have been executed', OWN, true, 'unary'],
  ['code', 'was not sent', CODE, false, 'unary'],
  ['code', 'may have been executed', CODE, true, 'unavailable'],
])(
  'a request of a %s whose stream is lost when it %s ends as expected',
  async (_what, _when, request, mayBeExecuted, end) => {
    const outcome = calls.issueToken({ request }).then(
      ({ accessToken }) => accessToken,
      ({ reason }) => reason,
    );
    await eventually(() => batches.length === 1);
    batches[0]?.[0]?.reject(new StreamLost(new Error('cut'), mayBeExecuted));
    expect(await outcome).toBe(end);
    expect(repeated).toEqual(end === 'unary' ? [request] : []);
  },
);

test('requests that arrive while a batch is in flight leave together when it is answered, the apps in turn', async () => {
  const issue = (key: string) =>
    void calls.issueToken({ request: { code: key }, key }).catch(() => undefined);
  issue('first');
  await eventually(() => batches.length === 1);
  for (const app of ['busy', 'busy', 'busy', 'quiet']) issue(app);
  await new Promise<void>((resolve) => setImmediate(resolve));
  expect(batches).toHaveLength(1);
  batches[0]?.[0]?.resolve(tokenOf('first'));
  await eventually(() => batches.length === 2);
  expect(batches[1]?.map(({ request }) => request.code)).toEqual(['busy', 'quiet', 'busy', 'busy']);
});
