import type { Clock } from '@phds/service-kit/clock';
import { startPeriodic } from '@phds/service-kit/periodic';
import { addDueEvents } from './webhook-causes.ts';
import type { EventPoster, WebhookCauseStore, WebhookQueue, WebhookSecrets } from './webhook-ports.ts';
import { createWebhookSender } from './webhook-sender.ts';

const MEASURE_INTERVAL_MS = 60_000;

export interface WebhookBackgroundOptions {
  readonly queue: WebhookQueue;
  readonly causes: WebhookCauseStore;
  readonly poster: EventPoster;
  readonly secrets: WebhookSecrets;
  readonly clock: Clock;
  /** Events in delivery at once; 0 to send none here. */
  readonly concurrency: number;
  /** Milliseconds between two looks for due events. */
  readonly intervalMs: number;
  /** Receives the error of a failed run, and what failed; the next run tries again. */
  readonly onFailure: (what: string, error: unknown) => void;
  /** Receives once a minute how many events are pending, and for how long the oldest has been due; not called when none is pending. */
  readonly onPending: (pending: Awaited<ReturnType<WebhookQueue['measure']>>) => void;
}

/** Starts to deliver events, and to add those of grants that expire or end with their app. Disposal ends attempts in progress. */
export function startWebhooks(options: WebhookBackgroundOptions): AsyncDisposable {
  const { queue, causes, concurrency, intervalMs, onFailure, onPending } = options;
  const resources = new AsyncDisposableStack();
  const repeat = (what: string, everyMs: number, turn: (signal: AbortSignal) => Promise<unknown>) =>
    resources.use(startPeriodic(turn, { intervalMs: everyMs, onFailure: (error) => onFailure(what, error) }));
  repeat('adding the events of ended grants', intervalMs, (signal) => addDueEvents(causes, signal));
  if (concurrency === 0) return resources;
  const failed = (error: unknown) => onFailure('delivering events', error);
  const sender = resources.use(createWebhookSender({ ...options, random: Math.random, onFailure: failed }));
  repeat('delivering events', intervalMs, () => sender.claimDue());
  repeat('measuring the delivery of events', MEASURE_INTERVAL_MS, async () => {
    const pending = await queue.measure();
    if (pending.pending > 0) onPending(pending);
  });
  return resources;
}
