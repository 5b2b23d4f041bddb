// The names that webhooks use in the public interface.

/** The events that an app can choose. */
export const WEBHOOK_EVENTS = [
  'grant.revoked',
  'grant.expired',
  'grant.narrowed',
  'grant.deletion_requested',
  'data.updated',
] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

/** What the deployment's own endpoints receive. */
export const HOST_EVENTS = [
  'connection.began',
  'connection.changed',
  'connection.narrowed',
  'connection.ended',
  'connection.ending',
] as const;
export type HostEvent = (typeof HOST_EVENTS)[number];

/** The types of an app's events: those it can choose, and the test that a developer sends. */
export type WebhookType = WebhookEvent | 'test';

/** A delivery is pending until the receiver has accepted it or it is given up. */
export const WEBHOOK_STATES = ['pending', 'delivered', 'failed'] as const;
export type WebhookState = (typeof WEBHOOK_STATES)[number];

/** Why an attempt was not accepted. With `status` and `redirected`, the receiver answered with that HTTP status. */
export const WEBHOOK_FAILURES = [
  'status',
  'redirected',
  'timed_out',
  'name_not_resolved',
  'address_not_allowed',
  'tls_failed',
  'connection_failed',
  'grant_ended',
] as const;
export type WebhookFailure = (typeof WEBHOOK_FAILURES)[number];

/**
 * Why nothing is sent to an endpoint. `gone`: the receiver answered 410 Gone; a new URL, or the same one again, enables it. `paused`: an
 * operator of the service has paused it; events wait.
 */
export const WEBHOOK_DISABLED = ['gone', 'paused'] as const;
