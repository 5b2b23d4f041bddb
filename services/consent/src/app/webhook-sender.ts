import type { Clock } from '@phds/service-kit/clock';
import { limitToShared, toEventBody, type WebhookEvent } from '../domain/webhook-event.ts';
import { waitAfter } from '../domain/webhook-schedule.ts';
import type {
  ClaimedEvent,
  Delivery,
  EventPoster,
  Outcome,
  WebhookQueue,
  WebhookSecrets,
} from './webhook-ports.ts';

/** Longer than an attempt and the storing of its outcome take. */
const LEASE_MS = 60_000;
/** Events in delivery at once to one endpoint, by each instance. */
const PER_ENDPOINT = 4;
const GONE = 410;

export interface WebhookSenderDependencies {
  readonly queue: WebhookQueue;
  readonly poster: EventPoster;
  readonly secrets: WebhookSecrets;
  readonly clock: Clock;
  /** From 0 to 1. */
  readonly random: () => number;
  /** Events in delivery at once. */
  readonly concurrency: number;
  readonly onFailure: (error: unknown) => void;
  /** Called after each attempt whose outcome is stored. */
  readonly onDelivery?: (delivery: Delivery) => void;
}

/** Delivers events. Disposal ends attempts in progress, and gives their events back. */
export interface WebhookSender extends AsyncDisposable {
  /** Claims as many due events as there is room for, and starts to deliver them. Delivered ones make room for further ones. */
  claimDue(): Promise<void>;
  /** Resolves when nothing is in delivery. */
  idle(): Promise<void>;
}

export function createWebhookSender(dependencies: WebhookSenderDependencies): WebhookSender {
  const { queue, concurrency, onFailure } = dependencies;
  const ending = new AbortController();
  const inDelivery = new Map<ClaimedEvent, Promise<void>>();
  let claiming: Promise<void> | null = null;
  let hasMoreRoom = false;

  async function claimAll(): Promise<void> {
    for (;;) {
      hasMoreRoom = false;
      const events = concurrency - inDelivery.size;
      if (events <= 0 || ending.signal.aborted) return;
      const busy = countByEndpoint(inDelivery.keys());
      const claimed = await queue.claim({ events, perEndpoint: PER_ENDPOINT, busy, leaseMs: LEASE_MS });
      for (const each of claimed) start(each);
      // What ended meanwhile may have made other events due, too.
      if (claimed.length < events && !hasMoreRoom) return;
    }
  }

  function start(claimed: ClaimedEvent): void {
    const delivery = deliver(dependencies, claimed, ending.signal)
      .catch(onFailure)
      .then(() => {
        inDelivery.delete(claimed);
        return claimDue();
      });
    inDelivery.set(claimed, delivery);
  }

  function claimDue(): Promise<void> {
    hasMoreRoom = true;
    claiming ??= claimAll()
      .catch(onFailure)
      .finally(() => {
        claiming = null;
      });
    return claiming;
  }

  const idle = async () => {
    while (claiming !== null || inDelivery.size > 0) await Promise.all([claiming, ...inDelivery.values()]);
  };
  return {
    claimDue,
    idle,
    async [Symbol.asyncDispose]() {
      ending.abort();
      await idle();
    },
  };
}

function countByEndpoint(claimed: Iterable<ClaimedEvent>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { endpoint } of claimed) counts.set(endpoint.id, (counts.get(endpoint.id) ?? 0) + 1);
  return counts;
}

/** One attempt, and storing what came of it. After a crash in between, the event is sent again. */
async function deliver(
  { queue, poster, secrets, clock, random, onDelivery }: WebhookSenderDependencies,
  claimed: ClaimedEvent,
  signal: AbortSignal,
): Promise<void> {
  const at = clock.now();
  const event = limitToShared(claimed.event, claimed.liveScopes);
  if (event === null) {
    const attempt = { at, status: null, failure: 'grant_ended', ms: 0 } as const;
    await queue.settle(claimed, attempt, { state: 'failed', isGone: false });
    onDelivery?.('grant_ended');
    return;
  }
  const started = performance.now();
  const answer = await poster.post(toRequest(event, claimed, secrets, at), signal).catch(() => null);
  if (answer === null) return queue.release(claimed);
  const attempt = { at, ...answer, ms: Math.round(performance.now() - started) };
  const outcome = toOutcome(claimed, answer, random());
  await queue.settle(claimed, attempt, outcome);
  onDelivery?.(outcome.state === 'pending' ? 'retried' : outcome.state);
}

function toRequest(event: WebhookEvent, { endpoint }: ClaimedEvent, secrets: WebhookSecrets, at: Date) {
  const body = toEventBody(event);
  const timestamp = Math.floor(at.getTime() / 1_000);
  return {
    url: endpoint.url,
    body,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'phds-webhooks/1',
      'webhook-id': event.id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': secrets.sign(endpoint, { id: event.id, timestamp, body }),
    },
  };
}

function toOutcome(
  { attempts, ageMs }: ClaimedEvent,
  { status, failure }: Awaited<ReturnType<EventPoster['post']>>,
  random: number,
): Outcome {
  if (failure === null) return { state: 'delivered' };
  if (status === GONE) return { state: 'failed', isGone: true };
  const waitMs = waitAfter(attempts, ageMs, random);
  return waitMs === null ? { state: 'failed', isGone: false } : { state: 'pending', waitMs };
}
