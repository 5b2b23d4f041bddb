import { GRANT_STATUSES } from '@phds/catalog/wire-names';
import { z } from 'zod';
import { count, date, grantEnder, instant, instantOrNull, scope, text } from '../openapi/fields.ts';

export const SUB = /^sub_[0-9A-Za-z]{22}$/;

/** Names a person for one app; other apps get another one. */
const sub = text.regex(SUB);

/** `POST /oauth/authorize` and `POST /oauth/par` (RFC 9126 2.2, and what our approval screen needs). */
export const pushedJson = z
  .object({
    request_uri: text,
    expires_in: count,
    approval_uri: text.meta({ format: 'uri' }),
    pending_id: text,
    status: z.literal('pending'),
  })
  .meta({ id: 'PushedAuthorization' });

/** `POST /oauth/token` (RFC 6749 5.1). */
export const tokenJson = z
  .object({
    access_token: text,
    token_type: z.literal('Bearer'),
    expires_in: count,
    refresh_token: text.optional().meta({ description: 'Absent for client credentials.' }),
    scope: text.meta({ description: 'The scopes that work now, separated by spaces.' }),
    grant_id: text.optional().meta({ description: 'Absent for client credentials.' }),
    sub: sub.optional().meta({ description: 'The person. Absent for client credentials.' }),
  })
  .meta({ id: 'Tokens' });

/** `POST /oauth/introspect` (RFC 7662 2.2). */
export const introspectionJson = z
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
    }),
  ])
  .meta({ id: 'Introspection' });

/** An item of `GET /oauth/grants`. */
export const ownGrantJson = z
  .object({
    id: text,
    sub: sub.nullable().meta({
      description: 'Identifies the person to this app. Null only while the service is being updated.',
    }),
    scopes: z.array(scope),
    status: z.enum(GRANT_STATUSES),
    granted_at: instant,
    expires_at: instant,
    data_from: date.nullable().meta({ description: 'First day of the data that is shared; null for all.' }),
    ended_at: instantOrNull,
    ended_by: grantEnder.nullable(),
    deletion_requested_at: instantOrNull,
  })
  .meta({ id: 'OwnGrant' });

export const OWN_GRANTS_QUERY = {
  status: z.enum(GRANT_STATUSES).meta({ description: 'Only grants of this status.' }),
  sub: sub.meta({ description: 'Only grants of this person.' }),
  before: text.meta({
    description:
      'Id of a grant: only those that come after it. A list counts at most 10,000 grants; continue with the last one of its last page.',
  }),
} as const;

/** `DELETE /oauth/grants/:id` */
export const endedGrantJson = z.object({ id: text, status: z.literal('revoked'), revoked_at: instant });
