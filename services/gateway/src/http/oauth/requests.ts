import { SANDBOX_PEOPLE } from '@phds/catalog/sandbox';
import { SCOPE_NAMES } from '@phds/catalog/scopes';
import { z } from 'zod';
import { text } from '../openapi/fields.ts';

// Parameters of the OAuth requests, for the document. All are strings, and unknown ones are ignored (RFC 6749 3.1), so authorization
// checks them. Credentials may be in `Authorization` instead.

const CREDENTIALS = {
  client_id: text.optional(),
  client_secret: text.optional(),
};

const scope = text.meta({
  description: 'One or more scopes, separated by spaces.',
  examples: [SCOPE_NAMES[0]],
});

const AUTHORIZATION = {
  redirect_uri: text.meta({
    description: 'One of the registered redirect URIs of the app, character by character.',
  }),
  scope,
  state: text.max(1024).optional().meta({ description: 'Returned unchanged.' }),
  response_type: z.literal('code').optional().meta({ description: '`code`, also if absent.' }),
  code_challenge: text.optional().meta({ description: 'PKCE (RFC 7636).' }),
  code_challenge_method: z
    .literal('S256')
    .optional()
    .meta({ description: '`S256`; needed with `code_challenge`.' }),
  purpose: text
    .optional()
    .meta({ description: 'Why the app asks, for the approval screen. Kept only with the secret.' }),
  needed_scope: text.optional().meta({ description: 'Scopes without which the app does not work.' }),
  login_hint: text.optional().meta({
    description: `Sandbox apps only: who approves (${SANDBOX_PEOPLE.join(', ')}), or \`deny\`.`,
  }),
  include_granted_scopes: z.enum(['true', 'false']).optional().meta({
    description:
      '`true`: the tokens get every scope that the person shares with the app, not only those of this approval.',
  }),
};

/** The query of `GET /oauth/authorize`. */
export const authorizationQuery = {
  client_id: text.meta({ description: 'Client id of the app.' }),
  ...AUTHORIZATION,
  request_uri: text.meta({ description: 'From `POST /oauth/par`; then `client_id` is enough.' }),
};

/** `POST /oauth/authorize` and `POST /oauth/par`. */
export const authorizationRequest = z
  .object({ ...CREDENTIALS, ...AUTHORIZATION })
  .meta({ id: 'AuthorizationRequest' });

/** `POST /oauth/token`. */
export const tokenRequest = z
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
      scope: scope.optional(),
    }),
    z.object({ grant_type: z.literal('client_credentials'), ...CREDENTIALS, scope: scope.optional() }),
  ])
  .meta({ id: 'TokenRequest' });

/** `POST /oauth/revoke` and `POST /oauth/introspect`. */
export const ownTokenRequest = z
  .object({ ...CREDENTIALS, token: text, token_type_hint: text.optional() })
  .meta({ id: 'OwnTokenRequest' });
