import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { expect, test } from '@jest/globals';
import {
  IssueTokenRequestSchema,
  IssueTokenResponseSchema,
} from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { AnswerSchema } from '@phds/contracts/phds/common/v1/calls_pb';
import { unavailable } from '@phds/service-kit/errors';
import { createTokenCalls } from '../src/clients/token-calls.ts';

/** The error of a call whose connection ended. */
const LOST = unavailable(Object.assign(new Error('14 UNAVAILABLE'), { code: 14 }));

/** Authorization, whose first answer is lost. */
function createLossy() {
  const grantTypes: string[] = [];
  const issueTokens = async ({ calls }: { calls: { request: Uint8Array }[] }) => {
    for (const { request } of calls)
      grantTypes.push(fromBinary(IssueTokenRequestSchema, request).grantType ?? '');
    if (grantTypes.length === 1) throw LOST;
    const value = toBinary(
      IssueTokenResponseSchema,
      create(IssueTokenResponseSchema, { accessToken: 'again' }),
    );
    return { answers: calls.map(() => create(AnswerSchema, { result: { case: 'response', value } })) };
  };
  return { grantTypes, calls: createTokenCalls({ issueTokens } as never, 20_000) };
}

const CLIENT = { clientId: 'app_1', clientSecret: 's' };

test.each([
  ['a refresh', { grantType: 'refresh_token', refreshToken: 'r', client: CLIENT }],
  ['a userless token', { grantType: 'client_credentials', client: CLIENT }],
])('a request of %s whose connection is lost is sent once more', async (_, request) => {
  const { calls, grantTypes } = createLossy();
  expect(await calls.issueToken({ request })).toMatchObject({ accessToken: 'again' });
  expect(grantTypes).toEqual([request.grantType, request.grantType]);
});

test.each([
  ['a code', { grantType: 'authorization_code', code: 'c', client: CLIENT }],
  ['a DPoP proof', { grantType: 'refresh_token', refreshToken: 'r', dpop: 'p', client: CLIENT }],
  ['a client assertion', { grantType: 'refresh_token', refreshToken: 'r', client: { clientAssertion: 'a' } }],
])('a request with %s that may have been executed is not sent again', async (_, request) => {
  const { calls, grantTypes } = createLossy();
  await expect(calls.issueToken({ request })).rejects.toMatchObject({ reason: 'unavailable' });
  expect(grantTypes).toHaveLength(1);
});
