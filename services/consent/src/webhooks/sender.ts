import type { Clock } from '@phds/service-kit/clock';
import { limitToShared, toEventBody, type WebhookAttempt, type WebhookEvent, waitAfter } from './event.ts';
import type { ClaimedEvent, ClaimLimits, Outcome, WebhookQueue } from './queue.ts';
import type { WebhookSecrets } from './secrets.ts';

/** What an attempt came to: the event was delivered, will be sent again, or never will; or its endpoint may no longer have it. */
export type Delivery = 'delivered' | 'retried' | 'failed' | 'grant_ended';

interface EventRequest {
  readonly endpointId: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Made in `delivery.ts`, of the HTTP client in `egress/public-client.ts` of service-kit. */
export interface EventPoster {
  /** Sends one request and waits for the answer, for a limited time. The endpoints of apps must have public addresses. Never rejects, unless the signal is aborted. */
  post(request: EventRequest, signal: AbortSignal): Promise<Pick<WebhookAttempt, 'status' | 'failure'>>;
  /** Whether an endpoint of an app may have this URL, as far as it tells: https, and an address must be public. */
  mayRequest(url: string): boolean;
}

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
  /** Events in delivery at once; as many again at endpoints that answer slowly. */
  readonly concurrency: number;
  readonly onFailure: (error: unknown) => void;
  /** Called after each attempt whose outcome is stored. */
  readonly onDelivery?: (delivery: Delivery) => void;
}

/** Delivers events. Disposal ends attempts in progress, and gives their events back. */
export class WebhookSender implements AsyncDisposable {
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

  /** Claims as many due events as there is room for, and starts to deliver them. Delivered ones make room for further ones. */
  claimDue(): Promise<void> {
    this.#endpoints.searchAll();
    return this.#claimMore();
  }

  /** As claimDue, but searches only for events of the last `withinMs` milliseconds and at endpoints that had due events. */
  claimNew(withinMs: number): Promise<void> {
    this.#endpoints.searchNew(withinMs);
    return this.#claimMore();
  }

  /** Resolves when nothing is in delivery. */
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
      this.#endpoints.note(claimed.length > 0, busy.size > 0);
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
    await queue.recordOutcome(claimed, attempt, { state: 'failed', isGone: false });
    onDelivery?.('grant_ended');
    return;
  }
  const started = performance.now();
  const answer = await poster.post(toRequest(event, claimed, secrets, at), signal).catch(() => null);
  if (answer === null) return queue.release(claimed);
  const attempt = { at, ...answer, ms: Math.round(performance.now() - started) };
  const outcome = toOutcome(claimed, answer, random());
  await queue.recordOutcome(claimed, attempt, outcome);
  onDelivery?.(outcome.state === 'pending' ? 'retried' : outcome.state);
}

function toRequest(event: WebhookEvent, { endpoint }: ClaimedEvent, secrets: WebhookSecrets, at: Date) {
  const body = toEventBody(event);
  const timestamp = Math.floor(at.getTime() / 1_000);
  return {
    endpointId: endpoint.id,
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

const FOUND_AT_ONCE = 200;

/** The endpoints that a sender claims from. Finding them costs much more than claiming from them, so it is not done for each claim. */
class DueEndpoints {
  readonly #queue: Pick<WebhookQueue, 'findDue'>;
  #ids = new Set<string>();
  #search: { readonly newWithinMs?: number } | null = null;
  #areMore = false;
  #isProgress = false;

  constructor(queue: Pick<WebhookQueue, 'findDue'>) {
    this.#queue = queue;
  }

  get ids(): ReadonlySet<string> {
    return this.#ids;
  }

  get isSearchDue(): boolean {
    return this.#search !== null;
  }

  /** The next search finds every endpoint with due events. */
  searchAll(): void {
    this.#search = {};
  }

  /** The next search adds the endpoints with events of the last `newWithinMs` milliseconds. */
  searchNew(newWithinMs: number): void {
    this.#search ??= { newWithinMs };
  }

  async search(): Promise<void> {
    while (this.#search !== null) {
      const { newWithinMs } = this.#search;
      this.#search = null;
      const found = await this.#queue.findDue(FOUND_AT_ONCE, newWithinMs);
      const areMore = found.length === FOUND_AT_ONCE;
      if (newWithinMs !== undefined && areMore) this.searchAll();
      if (newWithinMs === undefined)
        [this.#ids, this.#areMore, this.#isProgress] = [new Set(), areMore, false];
      for (const id of found) this.#ids.add(id);
    }
  }

  /**
   * After a claim that left places free. If it claimed nothing, nothing more of these endpoints is due, or it is held back by the shares of
   * deliveries and is claimed when they end.
   */
  note(isProgress: boolean, isDelivering: boolean): void {
    this.#isProgress ||= isProgress;
    if (isProgress) return;
    if (this.#areMore && this.#isProgress) this.searchAll();
    else if (!isDelivering) this.#ids.clear();
  }
}

/** A delivery that takes longer uses a place for slow endpoints, and so do the next ones to its endpoint. */
const SLOW_MS = 1_000;
/** Maximum number of slow endpoints in memory; the latest are kept. */
const MOST_SLOW = 10_000;
/** Share of the places that one owner or host may use, and that is reserved for other events than `data.updated`. */
const SHARE = 1 / 4;

/** A claim in delivery. */
interface DeliveryPlace {
  readonly claimed: ClaimedEvent;
  /** Unix milliseconds. */
  readonly startedAt: number;
}

/**
 * Who may use the places of a sender: as many as `concurrency` for endpoints that answer within a second, and as many again for slow ones.
 * A delivery that becomes slow moves there while there is room, so an endpoint that was not known to be slow delays others only once.
 */
class DeliveryPlaces {
  readonly #concurrency: number;
  readonly #slow = new Set<string>();

  constructor(concurrency: number) {
    this.#concurrency = concurrency;
  }

  /** Stores how long an endpoint took to answer. */
  note(endpointId: string, ms: number): void {
    this.#slow.delete(endpointId);
    if (ms < SLOW_MS) return;
    this.#slow.add(endpointId);
    const [oldest = ''] = this.#slow;
    if (this.#slow.size > MOST_SLOW) this.#slow.delete(oldest);
  }

  /** The events that may be claimed of these endpoints beside those in delivery. */
  limits(endpoints: Iterable<string>, delivering: readonly DeliveryPlace[], now: number) {
    const slow = new Set(Iterator.from(endpoints).filter((id) => this.#slow.has(id)));
    const busy = new Map<string, number>();
    for (const { claimed, startedAt } of delivering) {
      const { id } = claimed.endpoint;
      busy.set(id, (busy.get(id) ?? 0) + 1);
      if (this.#slow.has(id) || now - startedAt >= SLOW_MS) slow.add(id);
    }
    const fast = delivering.filter(({ claimed }) => !slow.has(claimed.endpoint.id));
    const late = fast.filter(({ claimed }) => claimed.event.type === 'data.updated').length;
    const slowRoom = this.#concurrency - (delivering.length - fast.length);
    const room = this.#concurrency - fast.length + Math.min(0, slowRoom);
    const reserved = Math.floor(this.#concurrency * SHARE);
    return {
      busy,
      slow,
      events: Math.max(0, room),
      lateEvents: Math.max(0, this.#concurrency - reserved - late),
      slowEvents: Math.max(0, slowRoom),
      perShare: Math.ceil(this.#concurrency * SHARE),
    } satisfies Partial<ClaimLimits>;
  }
}
