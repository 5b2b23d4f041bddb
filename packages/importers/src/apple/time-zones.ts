import { findTimeZone } from '@phds/catalog/time-zones';
import { parseExportDate } from './export-dates.ts';
import type { ExportElement } from './export-element.ts';

const DAY_MS = 86_400_000;

/** Finds out where the person lives: the zone of the newest sample that names one. */
export class NewestTimeZone {
  readonly #latest: number;
  #at = Number.NEGATIVE_INFINITY;
  #zone: string | null = null;

  /** Samples of a day after `now` (Unix milliseconds) do not count: nobody has measured them. */
  constructor(now: number) {
    this.#latest = now + DAY_MS;
  }

  /** An IANA zone; null when no sample names one. */
  get zone(): string | null {
    return this.#zone;
  }

  add({ timeZone, attributes }: ExportElement): void {
    if (timeZone === '') return;
    const at = parseExportDate(attributes['startDate'] ?? '');
    if (!(at > this.#at && at < this.#latest)) return;
    const zone = findTimeZone(timeZone);
    if (zone === null) return;
    this.#at = at;
    this.#zone = zone;
  }
}
