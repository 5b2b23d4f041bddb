import type { DescMessage, DescMethodUnary } from '@bufbuild/protobuf';
import type { Client } from '@connectrpc/connect';
import { TokenService } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import type { StreamOfCalls } from '@phds/service-kit/rpc/calls';
import { createStreamedCalls, type OpenStreams } from '@phds/service-kit/rpc/streamed-calls';

interface TokenCallsOptions {
  /** The unary rpcs. */
  readonly tokens: Pick<Client<typeof TokenService>, 'issueToken' | 'introspectOwnToken' | 'introspect'>;
  /** Opens streams of calls of a unary rpc. */
  readonly open: <I extends DescMessage, O extends DescMessage>(
    method: StreamOfCalls,
    carried: DescMethodUnary<I, O>,
  ) => OpenStreams<I, O>;
  /** Time limit of a call, in milliseconds. */
  readonly deadlineMs: number;
}

function isReusable(client: { readonly clientAssertion?: string | undefined } | undefined): boolean {
  return client?.clientAssertion === undefined;
}

/** The rpcs of authorization that are called most, over streams. */
export type TokenCalls = ReturnType<typeof createTokenCalls>;

/**
 * Opens streams to authorization. What may have been used is not sent again: a code would be a replay, which ends the tokens, and a DPoP
 * proof or a client assertion would be refused.
 */
export function createTokenCalls({ tokens, open, deadlineMs }: TokenCallsOptions) {
  const { issueToken, issueTokens, introspectOwnToken, introspectOwnTokens, introspect, introspectTokens } =
    TokenService.method;
  // One batch for each replica: what arrives meanwhile shares statements and commits.
  const limits = { deadlineMs, batches: () => 1 };
  return {
    issueToken: createStreamedCalls({
      ...limits,
      method: issueToken,
      unary: tokens.issueToken,
      streams: open(issueTokens, issueToken),
      isRepeatable: ({ code, dpop, client }) =>
        code === undefined && dpop === undefined && isReusable(client),
    }),
    introspectOwnToken: createStreamedCalls({
      ...limits,
      method: introspectOwnToken,
      unary: tokens.introspectOwnToken,
      streams: open(introspectOwnTokens, introspectOwnToken),
      isRepeatable: ({ client }) => isReusable(client),
    }),
    introspect: createStreamedCalls({
      ...limits,
      method: introspect,
      unary: tokens.introspect,
      streams: open(introspectTokens, introspect),
    }),
  };
}
