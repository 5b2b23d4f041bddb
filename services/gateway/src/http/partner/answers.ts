import {
  ADHERENCE_STATUSES,
  GRANT_STATUSES,
  PENDING_STATUSES,
  REFUSAL_REASONS,
} from '@phds/catalog/wire-names';
import { z } from 'zod';
import { DATA_ITEMS } from '../api/data-items.ts';
import { count, date, grantEnder, instant, instantOrNull, scope, text } from '../openapi/fields.ts';

const textOrNull = text.nullable();
const dataFrom = date.nullable().meta({ description: 'First day of the data that is shared; null for all.' });
const currentName = text
  .optional()
  .meta({ description: 'The present name of the app, if it is another one.' });

/** An app in a request or a grant. Null is unknown. */
const appProfile = z.object({
  clientId: textOrNull,
  name: textOrNull,
  description: textOrNull,
  developerName: textOrNull,
  homepageUrl: textOrNull,
  privacyPolicyUrl: textOrNull,
  logoUrl: textOrNull,
});

const requestedScope = z
  .object({
    scope,
    title: text,
    description: textOrNull,
    sensitive: z.boolean(),
    alreadyShared: z.boolean(),
    need: z.enum(['needed', 'optional']).nullable(),
  })
  .meta({ id: 'RequestedScope' });

const connection = z
  .object({
    grantId: text,
    appName: text,
    scopes: z.array(scope),
    expiresAt: instant,
    dataFrom: textOrNull,
  })
  .meta({ id: 'Connection', description: 'What the person shares with the app now.' });

const approvedTerms = z
  .object({
    scopes: z.array(scope),
    expiresInDays: count.optional(),
    keepExpiry: z.literal(true).optional(),
    dataFrom,
  })
  .meta({ id: 'ApprovedTerms', description: 'The body of `approve` that repeats the approval.' });

export const pendingJson = z
  .object({
    id: text,
    status: z.enum(PENDING_STATUSES),
    app: appProfile.extend({ redirectHost: text }),
    requestedScopes: z.array(requestedScope),
    purpose: textOrNull,
    clientAuthenticated: z.boolean(),
    createdAt: instant,
    expiresAt: instant,
    revision: textOrNull.meta({ description: 'Sent back with the decision, names what the screen showed.' }),
    connection: connection.nullable(),
    approved: approvedTerms.optional(),
  })
  .meta({ id: 'PendingApproval' });

const appChange = z
  .object({ field: text, from: textOrNull, to: textOrNull, at: instant })
  .meta({ id: 'AppChange' });

export const grantJson = z
  .object({
    id: text,
    app: appProfile.extend({ redirectHost: textOrNull, currentName }),
    appChanges: z.array(appChange).optional(),
    purpose: textOrNull,
    scopes: z.array(scope),
    status: z.enum(GRANT_STATUSES),
    grantedAt: instant,
    expiresAt: instant,
    revokedAt: instantOrNull,
    revokedBy: textOrNull,
    endedBy: grantEnder.nullable(),
    lastAccessAt: instantOrNull,
    accessCount: count,
    dataFrom,
    deletionRequestedAt: instantOrNull,
  })
  .meta({ id: 'Grant' });

export const connectedAppJson = z
  .object({ clientId: text, name: text, currentName, redirectHost: textOrNull })
  .meta({ id: 'ConnectedApp' });

const namedApp = z.object({ clientId: text, name: text, currentName });

export const accessJson = z
  .object({
    id: text,
    at: instant,
    app: namedApp,
    grantId: text,
    scope,
    endpoint: text,
    from: textOrNull,
    to: textOrNull,
    recordCount: count,
    outcome: z.enum(['released', 'refused']),
    reason: z.enum(REFUSAL_REASONS).nullable(),
  })
  .meta({ id: 'Access', description: 'What an app read, or was refused; without values.' });

export const accessDayJson = z
  .object({
    date,
    app: namedApp,
    released: count,
    refused: count,
    scopes: z.array(z.object({ scope, released: count, refused: count })),
  })
  .meta({ id: 'AccessDay' });

export const approvalJson = z.object({
  id: text,
  status: z.literal('approved'),
  grantId: text,
  scopes: z.array(scope),
  grantExpiresAt: instant,
  redirectUri: text,
});

export const denialJson = z.object({
  id: text,
  status: z.literal('denied'),
  redirectUri: textOrNull.meta({ description: 'Null if the app has removed the address since.' }),
});

export const extensionJson = z.object({ id: text, expiresAt: instant });
export const releasedJson = z.object({ id: text });
export const revocationJson = z.object({ id: text, status: z.literal('revoked'), revokedAt: instant });
export const revokedAllJson = z.object({ revoked: count });
export const deletionRequestJson = z.object({ id: text, deletionRequestedAt: instant });
export const receiptJson = z.object({
  grantId: text,
  receipt: text.meta({ description: 'A compact JWS (ISO/IEC 27560 field names).' }),
});
export const reportJson = z.object({ id: text, at: instant });
export const sessionJson = z.object({ userId: text, name: textOrNull, expiresAt: instant });

const dose = z.object({
  medication: text,
  scheduledAt: instantOrNull,
  status: z.enum(ADHERENCE_STATUSES),
  takenAt: instantOrNull,
  dose: textOrNull,
  reason: textOrNull,
});

/** health-data writes this body. The newest items are those of the endpoint that the scope opens. */
export const previewJson = z.object({
  scope,
  total: count,
  newest: z.array(z.looseObject({})),
  trend: z.array(DATA_ITEMS.trends),
  doses: z
    .object({ total: count, newest: z.array(dose) })
    .optional()
    .meta({ description: 'For `read:medications`.' }),
});
