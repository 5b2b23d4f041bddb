import { SECRET_OVERLAP_MAX_SECONDS } from '@phds/catalog/lifetimes';
import { WEBHOOK_EVENTS, type WebhookDisabled, type WebhookEvent } from '@phds/catalog/webhooks';
import { invalidRequest } from '@phds/service-kit/errors';

const LONGEST_URL = 2_048;

/** Where an app receives events. */
export interface WebhookEndpoint {
  readonly id: string;
  /** The id once more for an endpoint of the deployment. */
  readonly clientId: string;
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  readonly secretVersion: number;
  /** Until then the secret before signs as well; null when it does not. */
  readonly previousSecretUntil: Date | null;
  /** Null while it is in use. */
  readonly disabledReason: WebhookDisabled | null;
  /** The first of the failed attempts since the last accepted one; null when the last one was accepted. */
  readonly failingSince: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** An endpoint as operators see it. */
export interface OperatedEndpoint extends WebhookEndpoint {
  /** Empty for an endpoint of the deployment. */
  readonly appName: string;
  readonly pending: number;
  /** Events that were given up. */
  readonly failed: number;
  /** Null when no operator has paused it. */
  readonly pausedAt: Date | null;
}

/** Refuses URLs that no event is sent to; the addresses of its host are checked before each request. Returns the URL as it is requested. */
export function parseEndpointUrl(
  text: string,
  { allowLoopback }: { readonly allowLoopback: boolean },
): string {
  const url = text.length > LONGEST_URL ? null : URL.parse(text);
  if (url === null) throw invalidRequest('url', `must be a URL of at most ${LONGEST_URL} characters`);
  if (url.protocol !== 'https:' && !(allowLoopback && url.protocol === 'http:')) {
    throw invalidRequest('url', 'must begin with https://');
  }
  if (url.username !== '' || url.password !== '') {
    throw invalidRequest('url', 'must not contain a user name or a password');
  }
  if (url.hash !== '') throw invalidRequest('url', 'must not contain a fragment (#)');
  return url.href;
}

/** The chosen events, once each in the order of the catalog. */
export function parseEndpointEvents(names: readonly string[]): WebhookEvent[] {
  const unknown = names.filter((name) => !(WEBHOOK_EVENTS as readonly string[]).includes(name));
  if (unknown.length > 0) {
    throw invalidRequest('events', `unknown: ${unknown.join(', ')}; there are ${WEBHOOK_EVENTS.join(', ')}`);
  }
  if (names.length === 0) throw invalidRequest('events', 'must name at least one');
  return WEBHOOK_EVENTS.filter((event) => names.includes(event));
}

export function parseOverlap(seconds: number): number {
  if (seconds <= SECRET_OVERLAP_MAX_SECONDS) return seconds;
  throw invalidRequest('overlapSeconds', `must be 0 to ${SECRET_OVERLAP_MAX_SECONDS}`);
}
