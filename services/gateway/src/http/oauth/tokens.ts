import { timestampMs } from '@bufbuild/protobuf/wkt';
import type {
  IntrospectOwnTokenResponse,
  IssueTokenResponse,
} from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { z } from 'zod';
import type { Exchange } from '../exchange.ts';
import { OAUTH_HEADERS } from '../http-error.ts';
import { count, sub, text } from '../openapi/fields.ts';
import type { MountedOperation } from '../operation.ts';
import { sendJson } from '../respond.ts';
import {
  BOTH_TYPES,
  CREDENTIALS,
  callAsClient,
  clientOperation,
  findProof,
  PROOF_HEADERS,
  pick,
  readCredentials,
  readOauthParameters,
  scopes,
  smartScopes,
} from './client-operation.ts';

/** `POST /oauth/token`. */
const tokenRequest = z
  .discriminatedUnion('grant_type', [
    z.object({
      grant_type: z.literal('authorization_code'),
      ...CREDENTIALS,
      code: text,
      redirect_uri: text,
      code_verifier: text.optional(),
    }),
    z.object({
      grant_type: z.literal('refresh_token'),
      ...CREDENTIALS,
      refresh_token: text,
      scope: smartScopes.optional(),
    }),
    z.object({ grant_type: z.literal('client_credentials'), ...CREDENTIALS, scope: scopes.optional() }),
  ])
  .meta({ id: 'TokenRequest' });

/** `POST /oauth/revoke` and `POST /oauth/introspect`. */
const ownTokenRequest = z
  .object({ ...CREDENTIALS, token: text, token_type_hint: text.optional() })
  .meta({ id: 'OwnTokenRequest' });

const patient = text.optional().meta({
  description: 'Id of the Patient at `/fhir/R4`, if the app asked with words of SMART.',
});

/** `POST /oauth/token` (RFC 6749 5.1). */
const tokenJson = z
  .object({
    access_token: text,
    token_type: z.enum(['Bearer', 'DPoP']),
    expires_in: count,
    refresh_token: text.optional().meta({ description: 'Absent for client credentials.' }),
    scope: text.meta({
      description: 'The scopes that work now, separated by spaces, in the words that the app asked with.',
    }),
    grant_id: text.optional().meta({ description: 'Absent for client credentials.' }),
    sub: sub.optional().meta({ description: 'The person. Absent for client credentials.' }),
    patient,
  })
  .meta({ id: 'Tokens' });

/** `POST /oauth/introspect` (RFC 7662 2.2). */
const introspectionJson = z
  .union([
    z.object({ active: z.literal(false) }),
    z.object({
      active: z.literal(true),
      scope: text,
      client_id: text,
      token_type: text,
      iat: count.optional(),
      exp: count.optional(),
      grant_id: text.optional(),
      sub: sub.optional(),
      patient,
      cnf: z.object({ jkt: text }).optional().meta({
        description: 'Thumbprint of the key that the token is bound to (RFC 9449 6.2).',
      }),
    }),
  ])
  .meta({ id: 'Introspection' });

const TOKEN_FIELDS = {
  grantType: 'grant_type',
  code: 'code',
  redirectUri: 'redirect_uri',
  codeVerifier: 'code_verifier',
  refreshToken: 'refresh_token',
  scope: 'scope',
} as const;
const OWN_TOKEN_FIELDS = { token: 'token' } as const;

/** How an app gets, renews, revokes and examines its tokens. */
export const TOKEN_OPERATIONS: readonly MountedOperation[] = [
  clientOperation({
    path: '/oauth/token',
    operationId: 'issueTokens',
    summary: 'Exchange a code, refresh, or get a token of the app itself',
    security: 'client',
    requestHeaders: PROOF_HEADERS,
    body: { schema: tokenRequest, types: BOTH_TYPES },
    answers: { 200: { description: 'The tokens.', body: tokenJson } },
    errors: ['INVALID_GRANT', 'INVALID_SCOPE', 'UNSUPPORTED_GRANT_TYPE', 'INVALID_DPOP_PROOF'],
    handle: issueToken,
  }),
  clientOperation({
    path: '/oauth/revoke',
    operationId: 'revokeToken',
    securityEvent: 'revocation',
    summary: 'Revoke a token (RFC 7009)',
    description: 'Takes effect everywhere before it answers. The answer is the same for unknown tokens.',
    security: 'client',
    body: { schema: ownTokenRequest, types: BOTH_TYPES },
    answers: { 200: { description: 'The token does not work, or never did.', body: z.object({}) } },
    handle: revokeToken,
  }),
  clientOperation({
    path: '/oauth/introspect',
    operationId: 'introspectToken',
    summary: 'Ask about an own token (RFC 7662)',
    security: 'client',
    body: { schema: ownTokenRequest, types: BOTH_TYPES },
    answers: { 200: { description: 'What the token may do now.', body: introspectionJson } },
    handle: introspectToken,
  }),
];

/** `POST /oauth/token` (RFC 6749 3.2). */
async function issueToken(exchange: Exchange): Promise<void> {
  const dpop = findProof(exchange);
  const parameters = await readOauthParameters(exchange);
  const answer = await callAsClient(exchange, {
    client: readCredentials(exchange, parameters),
    refreshToken: parameters.get('refresh_token'),
    // The number of tokens by code or refresh is bounded by the people who approved; client-credentials tokens have no such bound.
    isCostly: parameters.get('grant_type') === 'client_credentials',
    send(client, key) {
      const request = { client, ...pick(parameters, TOKEN_FIELDS), ...(dpop !== undefined && { dpop }) };
      return exchange.gateway.backends.tokenCalls.issueToken({ request, key });
    },
  });
  sendJson(exchange.response, 200, toTokenAnswer(answer), OAUTH_HEADERS);
}

/** `POST /oauth/revoke` (RFC 7009): takes effect everywhere before the response is sent. */
async function revokeToken(exchange: Exchange): Promise<void> {
  const parameters = await readOauthParameters(exchange);
  await callAsClient(exchange, {
    client: readCredentials(exchange, parameters),
    send: (client) =>
      exchange.gateway.backends.tokens.revokeToken({ client, ...pick(parameters, OWN_TOKEN_FIELDS) }),
  });
  sendJson(exchange.response, 200, {}, OAUTH_HEADERS);
}

/** `POST /oauth/introspect` (RFC 7662) for the app's own tokens. */
async function introspectToken(exchange: Exchange): Promise<void> {
  const parameters = await readOauthParameters(exchange);
  const answer = await callAsClient(exchange, {
    client: readCredentials(exchange, parameters),
    send(client, key) {
      const request = { client, ...pick(parameters, OWN_TOKEN_FIELDS) };
      return exchange.gateway.backends.tokenCalls.introspectOwnToken({ request, key });
    },
  });
  sendJson(exchange.response, 200, toIntrospection(answer), OAUTH_HEADERS);
}

function toTokenAnswer(answer: IssueTokenResponse): z.infer<typeof tokenJson> {
  const { accessToken, expiresInSeconds, refreshToken, scope, grantId, sub, patient, dpopBound } = answer;
  return {
    access_token: accessToken,
    token_type: dpopBound ? 'DPoP' : 'Bearer',
    expires_in: expiresInSeconds,
    ...(refreshToken === '' ? {} : { refresh_token: refreshToken }),
    scope,
    ...(grantId === '' ? {} : { grant_id: grantId }),
    ...(sub === '' ? {} : { sub }),
    ...(patient === '' ? {} : { patient }),
  };
}

function toIntrospection(answer: IntrospectOwnTokenResponse): z.infer<typeof introspectionJson> {
  if (!answer.active) return { active: false };
  const { scope, clientId, tokenType, issuedAt, expiresAt, grantId, sub, patient, jkt } = answer;
  const accessType = jkt === '' ? 'Bearer' : 'DPoP';
  return {
    active: true,
    scope,
    client_id: clientId,
    token_type: tokenType === 'access_token' ? accessType : tokenType,
    ...(issuedAt === undefined ? {} : { iat: Math.floor(timestampMs(issuedAt) / 1000) }),
    ...(expiresAt === undefined ? {} : { exp: Math.floor(timestampMs(expiresAt) / 1000) }),
    ...(grantId === '' ? {} : { grant_id: grantId }),
    ...(sub === '' ? {} : { sub }),
    ...(patient === '' ? {} : { patient }),
    ...(jkt === '' ? {} : { cnf: { jkt } }),
  };
}
