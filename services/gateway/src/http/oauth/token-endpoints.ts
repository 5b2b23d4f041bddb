import { timestampMs } from '@bufbuild/protobuf/wkt';
import type {
  IntrospectOwnTokenResponse,
  IssueTokenResponse,
} from '@phds/contracts/phds/authorization/v1/tokens_pb';
import type { z } from 'zod';
import { limitCostly } from '../allowance.ts';
import type { Exchange } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import { OAUTH_HEADERS } from '../oauth-error.ts';
import { sendJson } from '../respond.ts';
import {
  asksForError,
  FORCED_GRANT_ERRORS,
  FORCED_TOKEN_ERRORS,
  throwForced,
} from '../sandbox/forced-oauth-errors.ts';
import type { introspectionJson, tokenJson } from './answers.ts';
import { type Credentials, callAsClient, readCredentials } from './client-credentials.ts';
import { type OauthParameters, pick, readOauthParameters } from './parameters.ts';

/** `POST /oauth/token` (RFC 6749 3.2). */
export async function issueToken(gateway: Gateway, exchange: Exchange): Promise<void> {
  const answer = await callForClient(
    gateway,
    exchange,
    FORCED_GRANT_ERRORS,
    async ({ clientId, client, parameters }) => {
      // The number of tokens by code or refresh is bounded by the people who approved; client-credentials tokens have no such bound.
      if (parameters.get('grant_type') === 'client_credentials') {
        await limitCostly(gateway, exchange, 'client-credentials', clientId);
      }
      const request = {
        client,
        ...pick(parameters, 'grantType', 'grant_type'),
        ...pick(parameters, 'code', 'code'),
        ...pick(parameters, 'redirectUri', 'redirect_uri'),
        ...pick(parameters, 'codeVerifier', 'code_verifier'),
        ...pick(parameters, 'refreshToken', 'refresh_token'),
        ...pick(parameters, 'scope', 'scope'),
      };
      return gateway.backends.tokenCalls.issueToken({ request, key: clientId });
    },
  );
  sendJson(exchange.response, 200, toTokenAnswer(answer), OAUTH_HEADERS);
}

/** `POST /oauth/revoke` (RFC 7009): takes effect everywhere before the response is sent. */
export async function revokeToken(gateway: Gateway, exchange: Exchange): Promise<void> {
  await callForClient(gateway, exchange, FORCED_TOKEN_ERRORS, ({ client, parameters }) =>
    gateway.backends.tokens.revokeToken({ client, ...pick(parameters, 'token', 'token') }),
  );
  sendJson(exchange.response, 200, {}, OAUTH_HEADERS);
}

/** `POST /oauth/introspect` (RFC 7662) for the app's own tokens. */
export async function introspectToken(gateway: Gateway, exchange: Exchange): Promise<void> {
  const answer = await callForClient(
    gateway,
    exchange,
    FORCED_TOKEN_ERRORS,
    ({ clientId, client, parameters }) => {
      const request = { client, ...pick(parameters, 'token', 'token') };
      return gateway.backends.tokenCalls.introspectOwnToken({ request, key: clientId });
    },
  );
  sendJson(exchange.response, 200, toIntrospection(answer), OAUTH_HEADERS);
}

interface ClientRequest {
  readonly clientId: string;
  readonly client: Credentials;
  readonly parameters: OauthParameters;
}

/**
 * Reads a request and runs `call` within the limit of its app, unless a sandbox app asks for one of the errors `forced`. It gets the
 * error only after authorization has verified the credentials, because those that were right before may have been replaced.
 */
async function callForClient<T>(
  gateway: Gateway,
  exchange: Exchange,
  forced: typeof FORCED_TOKEN_ERRORS,
  call: (request: ClientRequest) => Promise<T>,
): Promise<T> {
  const parameters = await readOauthParameters(exchange.request, gateway.config.MAX_BODY_BYTES);
  const client = readCredentials(exchange, parameters);
  return callAsClient(gateway, exchange, client, async (clientId) => {
    if (asksForError(exchange, clientId)) {
      await gateway.backends.authorization.authenticateClient({ client });
      throwForced(exchange, forced);
    }
    return call({ clientId, client, parameters });
  });
}

function toTokenAnswer(answer: IssueTokenResponse): z.infer<typeof tokenJson> {
  const { accessToken, expiresInSeconds, refreshToken, scope, grantId, sub } = answer;
  return {
    access_token: accessToken,
    token_type: 'Bearer',
    expires_in: expiresInSeconds,
    ...(refreshToken === '' ? {} : { refresh_token: refreshToken }),
    scope,
    ...(grantId === '' ? {} : { grant_id: grantId }),
    ...(sub === '' ? {} : { sub }),
  };
}

function toIntrospection(answer: IntrospectOwnTokenResponse): z.infer<typeof introspectionJson> {
  if (!answer.active) return { active: false };
  const { scope, clientId, tokenType, issuedAt, expiresAt, grantId, sub } = answer;
  return {
    active: true,
    scope,
    client_id: clientId,
    token_type: tokenType === 'access_token' ? 'Bearer' : tokenType,
    ...(issuedAt === undefined ? {} : { iat: Math.floor(timestampMs(issuedAt) / 1000) }),
    ...(expiresAt === undefined ? {} : { exp: Math.floor(timestampMs(expiresAt) / 1000) }),
    ...(grantId === '' ? {} : { grant_id: grantId }),
    ...(sub === '' ? {} : { sub }),
  };
}
