import { PhdsError } from './errors.ts';
import type { components } from './generated/openapi.ts';

type Schemas = components['schemas'];

/** What happened. New types may be added, so ignore those that you do not know. `timestamp` is when it happened. */
export type WebhookEvent = Schemas['WebhookEvent'];

/** There is new data, which is read with `connection.sync`. */
export type DataUpdated = Schemas['DataUpdatedEvent']['data'];

export type GrantEnded = Schemas['GrantRevokedEvent']['data'] | Schemas['GrantExpiredEvent']['data'];

/** The terms from now on. */
export type GrantNarrowed = Schemas['GrantNarrowedEvent']['data'];

export interface VerifyOptions {
  /** The largest difference between the time of the webhook and now. Default 300. */
  readonly toleranceSeconds?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** The headers of a request: of `fetch`, of Node, or of a framework. The case of names does not matter. */
export type WebhookHeaders = Headers | HeaderRecord;

type HeaderRecord = Readonly<Record<string, string | readonly string[] | undefined>>;

type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

const TOLERANCE_SECONDS = 300;

/**
 * Checks the signature of a webhook (Standard Webhooks) and returns its event. Throws WEBHOOK_REFUSED when no signature fits, or when
 * the webhook is too old: then answer 400.
 *
 * @param body The body exactly as it arrived, not parsed and written again.
 * @param secret The secret of the endpoint (`whsec_…`); while you replace it, both.
 */
export async function verifyWebhook(
  headers: WebhookHeaders,
  body: string | Uint8Array,
  secret: string | readonly string[],
  { toleranceSeconds = TOLERANCE_SECONDS, now = Date.now }: VerifyOptions = {},
): Promise<WebhookEvent> {
  const content = readText(body);
  const id = requireHeader(headers, 'webhook-id');
  const timestamp = requireHeader(headers, 'webhook-timestamp');
  const signatures = requireHeader(headers, 'webhook-signature').split(' ');
  if (!/^\d+$/.test(timestamp) || Math.abs(now() / 1_000 - Number(timestamp)) > toleranceSeconds) {
    throw refused(`its time is not within ${toleranceSeconds} s of this clock`);
  }
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${content}`);
  const secrets = typeof secret === 'string' ? [secret] : secret;
  const keys = await Promise.all(secrets.map(importSecret));
  if (!(await fitsAny(keys, signatures, signed))) throw refused('no signature fits');
  return JSON.parse(content) as WebhookEvent;
}

function readText(body: string | Uint8Array): string {
  if (typeof body === 'string') return body;
  if (ArrayBuffer.isView(body)) return new TextDecoder().decode(body);
  throw new TypeError(
    'Pass the raw body, as text or bytes: the signature is of its bytes, not of what a framework parsed.',
  );
}

async function fitsAny(keys: readonly Key[], signatures: readonly string[], signed: Uint8Array<ArrayBuffer>) {
  for (const signature of signatures) {
    const bytes = signature.startsWith('v1,') ? findBytes(signature.slice('v1,'.length)) : null;
    if (bytes === null) continue;
    // `verify` compares in constant time.
    for (const key of keys) if (await crypto.subtle.verify('HMAC', key, bytes, signed)) return true;
  }
  return false;
}

function importSecret(secret: string): Promise<Key> {
  const bytes = findBytes(secret.replace(/^whsec_/, ''));
  if (bytes === null || bytes.length === 0)
    throw new TypeError('The webhook secret is not base64 after `whsec_`.');
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
}

/** The bytes of a base64 text; null when it is none. */
function findBytes(base64: string) {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

function requireHeader(headers: WebhookHeaders, name: string): string {
  const value = isHeaders(headers) ? headers.get(name) : findInRecord(headers, name);
  const [only] = typeof value === 'string' ? [value] : (value ?? []);
  if (only !== undefined) return only;
  throw refused(`the header ${name} is missing`);
}

/** Not by `instanceof`: frameworks and test environments bring a class `Headers` of their own. */
function isHeaders(headers: WebhookHeaders): headers is Headers {
  return typeof headers.get === 'function';
}

function findInRecord(headers: HeaderRecord, name: string) {
  const [, value] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? [];
  return value;
}

function refused(reason: string): PhdsError {
  return new PhdsError('WEBHOOK_REFUSED', `The webhook is refused: ${reason}.`);
}
