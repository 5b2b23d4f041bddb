import type { Clock } from '@phds/service-kit/clock';
import { startPeriodic } from '@phds/service-kit/periodic';
import type {
  Delivery,
  EventPoster,
  HostEndpoints,
  PendingEvents,
  WebhookCauseStore,
  WebhookQueue,
  WebhookSecrets,
} from './ports.ts';
import { createWebhookSender } from './sender.ts';

const MEASURE_INTERVAL_MS = 15_000;
/** One turn in so many checks all endpoints, and so finds retries and `data.updated`, which become due some time after they were added. */
const TURNS_UNTIL_ALL = 5;
/** Longer than a transaction that adds an event usually takes. */
const COMMITTED_MS = 1_000;

export interface WebhookBackgroundOptions {
  readonly hosts: HostEndpoints;
  readonly queue: WebhookQueue;
  readonly causes: WebhookCauseStore;
  readonly poster: EventPoster;
  readonly secrets: WebhookSecrets;
  readonly clock: Clock;
  /** Events in delivery at once; 0 to send none here. */
  readonly concurrency: number;
  /** Milliseconds between two searches for due events. */
  readonly intervalMs: number;
  /** By what a task does: receives the error of a failed run; the next run tries again. */
  readonly failureOf: (task: string) => (error: unknown) => void;
  /** Receives every 15 s how many events are pending. */
  readonly onMeasured: (pending: PendingEvents) => void;
  readonly onDelivery: (delivery: Delivery) => void;
}

/** Starts to deliver events, and to add those of grants that expire or end with their app. Disposal ends attempts in progress. */
export function startWebhooks(options: WebhookBackgroundOptions): AsyncDisposable {
  const { hosts, queue, causes, concurrency, intervalMs, failureOf, onMeasured } = options;
  const resources = new AsyncDisposableStack();
  const repeat = (what: string, everyMs: number, turn: (signal: AbortSignal) => Promise<unknown>) =>
    resources.use(startPeriodic(turn, { intervalMs: everyMs, onFailure: failureOf(what) }));
  let isStored = false;
  repeat('adding the events of ended grants', intervalMs, async (signal) => {
    if (!isStored) await hosts.store();
    isStored = true;
    await addDueEvents(causes, signal);
  });
  if (concurrency === 0) return resources;
  const onFailure = failureOf('delivering events');
  const sender = resources.use(createWebhookSender({ ...options, random: Math.random, onFailure }));
  let turns = 0;
  const look = () => {
    turns += 1;
    return turns % TURNS_UNTIL_ALL === 0 ? sender.claimDue() : sender.claimNew(2 * intervalMs + COMMITTED_MS);
  };
  resources.use(startPeriodic(look, { intervalMs, onFailure }));
  repeat('measuring the delivery of events', MEASURE_INTERVAL_MS, async () =>
    onMeasured(await queue.measure()),
  );
  return resources;
}

/** Grants in one transaction, which lasts some milliseconds. */
const GRANTS_AT_ONCE = 1_000;

/** How many days before its end the deployment is told of it. */
const WARNED_DAYS = [7, 1];

/** Adds the events of grants that expired, that ended with their app, and that are about to end. A later run goes on where this one ended. */
export async function addDueEvents(causes: WebhookCauseStore, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await causes.addRevokedWithApp(GRANTS_AT_ONCE)));
  while (!signal.aborted && (await causes.addExpired(GRANTS_AT_ONCE)));
  for (const days of WARNED_DAYS) {
    while (!signal.aborted && (await causes.addEnding(days, GRANTS_AT_ONCE)));
  }
}
