import { parseExportDate } from './export-dates.ts';
import type { ExportElement } from './export-element.ts';
import { toOwnText } from './own-text.ts';

const DAY_MS = 86_400_000;

/** Finds out where the person lives: the zone of the newest sample that names one. */
export class NewestTimeZone {
  readonly #latest: number;
  readonly #checked = new Map<string, boolean>();
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
    if (!(at > this.#at && at < this.#latest) || !this.#isTimeZone(timeZone)) return;
    this.#at = at;
    this.#zone = toOwnText(timeZone);
  }

  #isTimeZone(text: string): boolean {
    const known = this.#checked.get(text);
    if (known !== undefined) return known;
    const isZone = isTimeZone(text);
    if (this.#checked.size < 1_000) this.#checked.set(toOwnText(text), isZone);
    return isZone;
  }
}

function isTimeZone(text: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(text)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return true;
  } catch {
    return false;
  }
}
