import type { Client } from '@connectrpc/connect';
import { TokenService } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { createBatchedCalls } from '@phds/service-kit/rpc/batch-rpc';

function isReusable(client: { readonly clientAssertion?: string | undefined } | undefined): boolean {
  return client?.clientAssertion === undefined;
}

/** The rpcs of authorization that are called most, in batches. */
export type TokenCalls = ReturnType<typeof createTokenCalls>;

/**
 * Calls authorization in batches, one at a time: what arrives meanwhile shares statements and commits. What may have been used is not
 * sent again: a code would be a replay, which ends the tokens, and a DPoP proof or a client assertion would be refused.
 *
 * @param deadlineMs Time limit of a call, in milliseconds.
 */
export function createTokenCalls(
  tokens: Pick<Client<typeof TokenService>, 'issueTokens' | 'introspectOwnTokens' | 'introspectTokens'>,
  deadlineMs: number,
) {
  const { issueToken, introspectOwnToken, introspect } = TokenService.method;
  return {
    issueToken: createBatchedCalls({
      method: issueToken,
      batch: tokens.issueTokens,
      deadlineMs,
      isRepeatable: ({ code, dpop, client }) =>
        code === undefined && dpop === undefined && isReusable(client),
    }),
    introspectOwnToken: createBatchedCalls({
      method: introspectOwnToken,
      batch: tokens.introspectOwnTokens,
      deadlineMs,
      isRepeatable: ({ client }) => isReusable(client),
    }),
    introspect: createBatchedCalls({ method: introspect, batch: tokens.introspectTokens, deadlineMs }),
  };
}
