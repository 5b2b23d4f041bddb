import { getMetric, type Metric, type MetricKey } from '@phds/catalog/metrics';
import { toReadingId } from '../../src/row-ids.ts';

/** A valid reading as an importer sends it, in the type's own unit and decimals. Unix milliseconds. */
export interface Sent {
  readonly type: MetricKey;
  readonly start: number;
  readonly end: number;
  readonly source: string;
  readonly value: number | null;
}

export interface Kept extends Sent {
  readonly metric: Metric;
  readonly id: string;
}

/** Every reading of a type, optionally of a source, whose start is in a window; null is unbounded. */
export interface Span {
  readonly type: MetricKey;
  readonly source: string | null;
  readonly from: number | null;
  readonly to: number | null;
}

/** The expected data of one person: a list of readings with unique natural keys, and a zone. */
export class Person {
  readonly userId: string;
  zone = 'UTC';
  #readings = new Map<string, Kept>();

  constructor(userId: string) {
    this.userId = userId;
  }

  get readings(): Kept[] {
    return [...this.#readings.values()];
  }

  /** Stores a batch; the newest value of a natural key is kept. Values replaced within the batch count as unchanged. */
  put(batch: readonly Sent[]) {
    const counts = { inserted: 0, updated: 0, unchanged: 0 };
    const last = new Map(batch.map((reading) => [this.#keyOf(reading), reading]));
    counts.unchanged = batch.length - last.size;
    for (const [id, reading] of last) {
      const known = this.#readings.get(id);
      if (known === undefined) counts.inserted += 1;
      else if (known.value === reading.value) counts.unchanged += 1;
      else counts.updated += 1;
      this.#readings.set(id, { ...reading, metric: getMetric(reading.type), id });
    }
    return counts;
  }

  /** Deletes by natural key and by window; returns the number deleted. */
  delete(keys: readonly Sent[], spans: readonly Span[]): number {
    const before = this.#readings.size;
    for (const key of keys) this.#readings.delete(this.#keyOf(key));
    for (const reading of this.readings) {
      if (spans.some((span) => covers(span, reading))) this.#readings.delete(reading.id);
    }
    return before - this.#readings.size;
  }

  erase(): void {
    this.#readings.clear();
    this.zone = 'UTC';
  }

  // Ids are opaque, so the service's own function is used.
  #keyOf({ type, start, end, source }: Sent): string {
    const metric = getMetric(type);
    return toReadingId(this.userId, { metric, startAt: new Date(start), endAt: new Date(end), source });
  }
}

function covers({ type, source, from, to }: Span, reading: Kept): boolean {
  return (
    reading.type === type &&
    (source === null || reading.source === source) &&
    (from === null || reading.start >= from) &&
    (to === null || reading.start < to)
  );
}
