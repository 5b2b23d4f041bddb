import { findTimeZone } from '@phds/catalog/time-zones';
import { findInstant } from '../ingest/dates.ts';
import type { ExportElement } from './export-parser.ts';

const DAY_MS = 86_400_000;

/** Finds the person's time zone: that of the newest sample with a zone. */
export class NewestTimeZone {
  readonly #latest: number;
  #at = Number.NEGATIVE_INFINITY;
  #zone: string | null = null;

  /** Samples dated after `now` (Unix milliseconds) are ignored. */
  constructor(now: number) {
    this.#latest = now + DAY_MS;
  }

  /** An IANA zone; null if no sample has one. */
  get zone(): string | null {
    return this.#zone;
  }

  add({ timeZone, attributes }: ExportElement): void {
    if (timeZone === '') return;
    const at = findInstant(attributes['startDate'] ?? '');
    if (!(at > this.#at && at < this.#latest)) return;
    const zone = findTimeZone(timeZone);
    if (zone === null) return;
    this.#at = at;
    this.#zone = zone;
  }
}
