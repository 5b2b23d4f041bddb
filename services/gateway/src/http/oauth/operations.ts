import { z } from 'zod';
import { FORM_TYPE, JSON_TYPE } from '../body.ts';
import { dataOf, listOf, PAGE_QUERY, text } from '../openapi/fields.ts';
import { type HeaderName, LIMITED } from '../openapi/headers.ts';
import type { Answer, ErrorCode, Operation } from '../openapi/operation.ts';
import { withHeaders } from '../openapi/operation-kinds.ts';
import { FORCE_HEADERS } from '../sandbox/force-header.ts';
import {
  endedGrantJson,
  introspectionJson,
  OWN_GRANTS_QUERY,
  ownGrantJson,
  pushedJson,
  tokenJson,
} from './answers.ts';
import { publicScope } from './metadata.ts';
import { authorizationQuery, authorizationRequest, ownTokenRequest, tokenRequest } from './requests.ts';

const BOTH_TYPES = [JSON_TYPE, FORM_TYPE];
const ALWAYS: readonly HeaderName[] = ['Cache-Control', 'Pragma'];
const ERRORS: readonly ErrorCode[] = ['INVALID_REQUEST', 'UNAUTHORIZED', 'RATE_LIMITED', 'INTERNAL_ERROR'];

const OWN_GRANT_ERRORS: readonly ErrorCode[] = [...ERRORS, ['UNAUTHORIZED_CLIENT', 403]];

type Given = Omit<Operation, 'tag' | 'errorFormat'>;

function oauthOperation(given: Given): Operation {
  return { tag: 'OAuth', errorFormat: 'oauth', ...given, answers: withHeaders(given.answers, ALWAYS) };
}

/** An operation for an app that authenticates with its secret, within the limit of the app. */
function clientOperation(
  given: Omit<Given, 'method' | 'errors'> & { errors?: readonly ErrorCode[] },
): Operation {
  const answers = withHeaders(given.answers, LIMITED);
  const errors = [...ERRORS, ...(given.errors ?? [])];
  return oauthOperation({ method: 'POST', ...given, answers, errors });
}

const PUSHED = {
  description: 'The request waits for the person, whom the app sends to `approval_uri`.',
  body: pushedJson,
  headers: ['Location'] as const,
};

const PAGE: Pick<Answer, 'body' | 'type' | 'headers' | 'sometimes'> = {
  body: text,
  type: 'text/html',
  headers: ['Cache-Control'],
  // A request with a URL that is too long gets the error of a program, with its id.
  sometimes: ['Pragma', 'X-Request-Id', ...LIMITED],
};
const TRY_LATER: typeof PAGE = { ...PAGE, headers: ['Cache-Control', 'Retry-After'] };

/** Everything under `/oauth`. */
export const OAUTH_OPERATIONS: readonly Operation[] = [
  {
    tag: 'OAuth',
    errorFormat: 'oauth',
    method: 'GET',
    path: '/oauth/authorize',
    operationId: 'startAuthorization',
    summary: 'Send a person to the approval screen',
    description:
      'The address to which the app sends the browser (RFC 6749 4.1.1). A mistake in `client_id` or `redirect_uri` shows a page; other ' +
      'errors return to the app with `error`, `error_description`, `state` and `iss`, for people whom the app does not know through a ' +
      'link on a page.',
    security: 'none',
    query: authorizationQuery,
    requiredQuery: ['client_id'],
    answers: {
      200: { description: 'A page about a sandbox app: where the link leads.', ...PAGE },
      303: {
        description:
          'To the approval screen, or back to the app with an error or, for a sandbox app, with a code.',
        headers: [...ALWAYS, 'Location'],
        sometimes: LIMITED,
      },
      400: { description: 'A page about a mistake in the request.', ...PAGE },
      429: { description: 'A page: too many requests.', ...TRY_LATER },
      500: { description: 'A page: something failed here.', ...PAGE },
      503: { description: 'A page: try again.', ...TRY_LATER },
    },
    errors: ['INVALID_REQUEST'],
  },
  clientOperation({
    path: '/oauth/authorize',
    operationId: 'requestAuthorization',
    summary: 'Ask a person for approval',
    description: 'The secret is optional; without it the requests of an address are limited.',
    security: 'optional-client',
    body: { schema: authorizationRequest, types: BOTH_TYPES },
    answers: {
      201: PUSHED,
      303: { description: 'To the approval screen, for a browser.', headers: ['Location'] },
    },
    errors: ['INVALID_SCOPE'],
  }),
  clientOperation({
    path: '/oauth/par',
    operationId: 'pushAuthorization',
    summary: 'Ask a person for approval, with the secret (RFC 9126)',
    security: 'client',
    body: { schema: authorizationRequest, types: BOTH_TYPES },
    answers: { 201: PUSHED },
    errors: ['INVALID_SCOPE'],
  }),
  clientOperation({
    path: '/oauth/token',
    operationId: 'issueTokens',
    summary: 'Exchange a code, refresh, or get a token of the app itself',
    security: 'client',
    requestHeaders: FORCE_HEADERS,
    body: { schema: tokenRequest, types: BOTH_TYPES },
    answers: { 200: { description: 'The tokens.', body: tokenJson } },
    errors: ['INVALID_GRANT', 'INVALID_SCOPE', 'UNSUPPORTED_GRANT_TYPE'],
  }),
  clientOperation({
    path: '/oauth/revoke',
    operationId: 'revokeToken',
    summary: 'Revoke a token (RFC 7009)',
    description: 'Takes effect everywhere before it answers. The answer is the same for unknown tokens.',
    security: 'client',
    requestHeaders: FORCE_HEADERS,
    body: { schema: ownTokenRequest, types: BOTH_TYPES },
    answers: { 200: { description: 'The token does not work, or never did.', body: z.object({}) } },
  }),
  clientOperation({
    path: '/oauth/introspect',
    operationId: 'introspectToken',
    summary: 'Ask about an own token (RFC 7662)',
    security: 'client',
    requestHeaders: FORCE_HEADERS,
    body: { schema: ownTokenRequest, types: BOTH_TYPES },
    answers: { 200: { description: 'What the token may do now.', body: introspectionJson } },
  }),
  oauthOperation({
    method: 'GET',
    path: '/oauth/grants',
    operationId: 'listOwnGrants',
    summary: 'List the grants of the app',
    security: 'app-token',
    query: { ...PAGE_QUERY, ...OWN_GRANTS_QUERY },
    answers: {
      200: { description: 'The grants, newest first.', body: listOf(ownGrantJson), headers: LIMITED },
    },
    errors: OWN_GRANT_ERRORS,
  }),
  oauthOperation({
    method: 'GET',
    path: '/oauth/grants/:id',
    operationId: 'getOwnGrant',
    summary: 'Read a grant of the app',
    security: 'app-token',
    answers: { 200: { description: 'The grant.', body: dataOf(ownGrantJson), headers: LIMITED } },
    errors: [...OWN_GRANT_ERRORS, 'NOT_FOUND'],
  }),
  oauthOperation({
    method: 'DELETE',
    path: '/oauth/grants/:id',
    operationId: 'endOwnGrant',
    summary: 'End a grant of the app',
    description: 'As a revocation by the person: takes effect everywhere before it answers.',
    security: 'app-token',
    answers: { 200: { description: 'The end.', body: dataOf(endedGrantJson), headers: LIMITED } },
    errors: [...OWN_GRANT_ERRORS, 'NOT_FOUND'],
  }),
  oauthOperation({
    method: 'GET',
    path: '/oauth/scopes',
    operationId: 'listScopes',
    summary: 'List all scopes',
    security: 'none',
    query: PAGE_QUERY,
    answers: {
      200: {
        description: 'The scopes.',
        body: listOf(publicScope),
        headers: ['Access-Control-Allow-Origin'],
      },
    },
    errors: ['INVALID_REQUEST'],
  }),
];
