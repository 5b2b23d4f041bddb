import type { WebhookType } from '@phds/catalog/webhooks';
import { z } from 'zod';
import { category, date, grantEnder, instant, scope, text } from '../openapi/fields.ts';

const aboutGrant = {
  grantId: text,
  sub: text.meta({ description: 'The person, as in the answers of the token endpoint.' }),
};
const ended = { ...aboutGrant, endedBy: grantEnder };

/** The body of an event (Standard Webhooks). Consent makes it; no code here parses it. */
function eventOf(id: string, type: WebhookType, data: z.ZodRawShape) {
  return z.object({ type: z.literal(type), timestamp: instant, data: z.object(data) }).meta({ id });
}

/** The bodies of the events by type, with what each tells. */
export const WEBHOOK_BODIES = {
  'grant.revoked': {
    summary: 'A grant was ended',
    body: eventOf('GrantRevokedEvent', 'grant.revoked', ended),
  },
  'grant.expired': {
    summary: 'A grant reached its end',
    body: eventOf('GrantExpiredEvent', 'grant.expired', ended),
  },
  'grant.narrowed': {
    summary: 'A grant shares less: these are its terms now',
    body: eventOf('GrantNarrowedEvent', 'grant.narrowed', {
      ...aboutGrant,
      scopes: z.array(scope),
      expiresAt: instant,
      dataFrom: date.nullable().meta({ description: 'The first day that is shared; null for everything.' }),
    }),
  },
  'data.updated': {
    summary: 'Readings of a shared category were added, changed or deleted',
    body: eventOf('DataUpdatedEvent', 'data.updated', {
      ...aboutGrant,
      categories: z.array(category),
      lastDataAt: instant,
    }),
  },
  test: { summary: 'The developer sent a test', body: eventOf('TestEvent', 'test', {}) },
} as const satisfies Record<WebhookType, unknown>;

/** Any event. */
export const webhookEventJson = z
  .union([
    WEBHOOK_BODIES['grant.revoked'].body,
    WEBHOOK_BODIES['grant.expired'].body,
    WEBHOOK_BODIES['grant.narrowed'].body,
    WEBHOOK_BODIES['data.updated'].body,
    WEBHOOK_BODIES.test.body,
  ])
  .meta({ id: 'WebhookEvent' });
