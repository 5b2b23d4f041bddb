import type { Clock } from '@phds/service-kit/clock';
import { limitToShared, toEventBody, type WebhookEvent } from '../domain/webhook-event.ts';
import { waitAfter } from '../domain/webhook-schedule.ts';
import { type DeliveryPlace, DeliveryPlaces } from './delivery-places.ts';
import { DueEndpoints } from './due-endpoints.ts';
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
  /** As claimDue, but searches only for events of the last milliseconds and at endpoints that had due events. */
  claimNew(withinMs: number): Promise<void>;
  /** Resolves when nothing is in delivery. */
  idle(): Promise<void>;
}

export function createWebhookSender(dependencies: WebhookSenderDependencies): WebhookSender {
  return new Sender(dependencies);
}

class Sender implements WebhookSender {
  readonly #dependencies: WebhookSenderDependencies;
  readonly #ending = new AbortController();
  readonly #inDelivery = new Map<DeliveryPlace, Promise<void>>();
  readonly #places: DeliveryPlaces;
  readonly #endpoints: DueEndpoints;
  #claiming: Promise<void> | null = null;
  #hasMoreRoom = false;

  constructor(dependencies: WebhookSenderDependencies) {
    this.#dependencies = dependencies;
    this.#places = new DeliveryPlaces(dependencies.concurrency);
    this.#endpoints = new DueEndpoints(dependencies.queue);
  }

  claimDue(): Promise<void> {
    this.#endpoints.searchAll();
    return this.#claimMore();
  }

  claimNew(withinMs: number): Promise<void> {
    this.#endpoints.searchNew(withinMs);
    return this.#claimMore();
  }

  async idle(): Promise<void> {
    while (this.#claiming !== null || this.#inDelivery.size > 0)
      await Promise.all([this.#claiming, ...this.#inDelivery.values()]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await this.idle();
  }

  #claimMore(): Promise<void> {
    this.#hasMoreRoom = true;
    this.#claiming ??= this.#claimAll()
      .catch(this.#dependencies.onFailure)
      .finally(() => {
        this.#claiming = null;
      });
    return this.#claiming;
  }

  async #claimAll(): Promise<void> {
    for (let goesOn = true; goesOn; ) {
      this.#hasMoreRoom = false;
      const { events, slowEvents } = this.#limits();
      if (events + slowEvents === 0 || this.#ending.signal.aborted) return;
      await this.#endpoints.search();
      const claimed = await this.#claim();
      // What ended meanwhile may have made other events due, too.
      goesOn = claimed > 0 || this.#hasMoreRoom || this.#endpoints.isSearchDue;
    }
  }

  /** Returns the number of events that it claimed. */
  async #claim(): Promise<number> {
    const { ids } = this.#endpoints;
    const limits = { ...this.#limits(), endpoints: ids, perEndpoint: PER_ENDPOINT, leaseMs: LEASE_MS };
    const claimed = ids.size === 0 ? [] : await this.#dependencies.queue.claim(limits);
    for (const each of claimed) this.#start(each);
    const { events, slowEvents, busy } = this.#limits();
    // The end of a delivery during the claim may have made the next event of its grant due.
    if (events > 0 && slowEvents > 0 && !this.#hasMoreRoom)
      await this.#endpoints.keep(busy, claimed.length > 0);
    return claimed.length;
  }

  #limits() {
    const now = this.#dependencies.clock.now().getTime();
    return this.#places.limits(this.#endpoints.ids, [...this.#inDelivery.keys()], now);
  }

  #start(claimed: ClaimedEvent): void {
    const { clock, onFailure } = this.#dependencies;
    const place = { claimed, startedAt: clock.now().getTime() };
    const delivery = deliver(this.#dependencies, claimed, this.#ending.signal)
      .catch(onFailure)
      .then(() => {
        this.#inDelivery.delete(place);
        this.#places.note(claimed.endpoint.id, clock.now().getTime() - place.startedAt);
        return this.#claimMore();
      });
    this.#inDelivery.set(place, delivery);
  }
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
