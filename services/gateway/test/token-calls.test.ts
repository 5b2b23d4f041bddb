import { create } from '@bufbuild/protobuf';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { IssueTokenResponseSchema, TokenService } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { StreamLost } from '@phds/service-kit/rpc/call-stream';
import type { OpenStreams } from '@phds/service-kit/rpc/streamed-calls';
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
  ['refresh', 'may have been executed', REFRESH, true],
  ['userless token', 'may have been executed', OWN, true],
  ['refresh', 'was not sent', REFRESH, false],
  ['code', 'was not sent', CODE, false],
])(
  'a request of a %s whose stream is lost when it %s is repeated by the unary rpc',
  async (_what, _when, request, mayBeExecuted) => {
    const answer = calls.issueToken({ request });
    await eventually(() => batches.length === 1);
    batches[0]?.[0]?.reject(new StreamLost(new Error('cut'), mayBeExecuted));
    expect(await answer).toMatchObject({ accessToken: 'unary' });
    expect(repeated).toEqual([request]);
  },
);

test('a code that may have been exchanged is not sent again', async () => {
  const answer = calls.issueToken({ request: CODE });
  await eventually(() => batches.length === 1);
  batches[0]?.[0]?.reject(new StreamLost(new Error('cut'), true));
  await expect(answer).rejects.toMatchObject({ reason: 'unavailable' });
  expect(repeated).toEqual([]);
});

test('requests that arrive while a batch is in flight leave together when it is answered, the apps in turn', async () => {
  const issue = (key: string) =>
    void calls.issueToken({ request: { refreshToken: key }, key }).catch(() => undefined);
  issue('first');
  await eventually(() => batches.length === 1);
  for (const app of ['busy', 'busy', 'busy', 'quiet']) issue(app);
  await new Promise<void>((resolve) => setImmediate(resolve));
  expect(batches).toHaveLength(1);
  batches[0]?.[0]?.resolve(tokenOf('first'));
  await eventually(() => batches.length === 2);
  expect(batches[1]?.map(({ request }) => request.refreshToken)).toEqual(['busy', 'quiet', 'busy', 'busy']);
});
