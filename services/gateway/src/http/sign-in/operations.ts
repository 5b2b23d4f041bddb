import { z } from 'zod';
import { FORM_TYPE } from '../body.ts';
import { dataOf, text } from '../openapi/fields.ts';
import type { Operation } from '../openapi/operation.ts';

const signedOutJson = z.object({
  signedOut: z.literal(true),
  continueTo: text.nullable().meta({ description: 'The logout of the OpenID provider, if it has one.' }),
});

const logoutError = z.object({ error: z.literal('invalid_request'), error_description: text });

const REFUSED = {
  description: 'The logout token is refused.',
  body: logoutError,
  headers: ['Cache-Control'],
  // A URL that is too long is refused before, with an id.
  sometimes: ['X-Request-Id'],
} as const;

/** Signing out. Signing in happens on pages. */
export const SIGN_IN_OPERATIONS: readonly Operation[] = [
  {
    method: 'POST',
    path: '/sign-out',
    operationId: 'signOut',
    tag: 'Session',
    summary: 'End the session of this browser',
    description: 'Only our own pages may send it.',
    security: 'none',
    answers: {
      200: {
        description: 'The cookie is removed, and the session ended everywhere.',
        body: dataOf(signedOutJson),
        headers: ['Cache-Control', 'Set-Cookie'],
      },
    },
    errorFormat: 'problem',
    errors: ['INVALID_REQUEST', 'UNAUTHORIZED', 'INTERNAL_ERROR'],
    errorHeaders: ['Set-Cookie'],
  },
  {
    method: 'POST',
    path: '/sign-out/back-channel',
    operationId: 'endSessions',
    tag: 'Session',
    summary: 'End sessions, as their OpenID provider (OpenID Connect Back-Channel Logout)',
    security: 'none',
    body: { schema: z.object({ logout_token: text }), types: [FORM_TYPE] },
    answers: {
      200: { description: 'The sessions are ended everywhere.', headers: ['Cache-Control'] },
      400: REFUSED,
      413: REFUSED,
      415: REFUSED,
    },
    errorFormat: 'problem',
    errors: [['INVALID_REQUEST', 400], 'NOT_FOUND', 'RATE_LIMITED', 'INTERNAL_ERROR'],
  },
];
