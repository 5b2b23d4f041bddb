import type { WebhookCauseStore } from './webhook-ports.ts';

/** Grants in one transaction, which lasts some milliseconds. */
const GRANTS_AT_ONCE = 1_000;

/** Adds the events of grants that expired, and of those that ended with their app. A later run goes on where this one ended. */
export async function addDueEvents(causes: WebhookCauseStore, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await causes.addRevokedWithApp(GRANTS_AT_ONCE)));
  while (!signal.aborted && (await causes.addExpired(GRANTS_AT_ONCE)));
}
