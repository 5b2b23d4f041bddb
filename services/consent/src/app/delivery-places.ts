import type { ClaimedEvent, ClaimLimits } from './webhook-ports.ts';

/** A delivery that takes longer uses a place for slow endpoints, and so do the next ones to its endpoint. */
const SLOW_MS = 1_000;
/** Maximum number of slow endpoints in memory; the latest are kept. */
const MOST_SLOW = 10_000;
/** Share of the places that one owner or host may use, and that is reserved for other events than `data.updated`. */
const SHARE = 1 / 4;

/** A claim in delivery. */
export interface DeliveryPlace {
  readonly claimed: ClaimedEvent;
  /** Unix milliseconds. */
  readonly startedAt: number;
}

/**
 * Who may use the places of a sender: as many as `concurrency` for endpoints that answer within a second, and as many again for slow ones.
 * A delivery that becomes slow moves there while there is room, so an endpoint that was not known to be slow delays others only once.
 */
export class DeliveryPlaces {
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
