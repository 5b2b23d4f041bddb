import type { ImportedReading } from '../ingest/imported-item.ts';
import { type Standing, ValueTable } from './value-table.ts';

// Seconds since 1900 and the length of the interval fit into one exact integer: 33 bits and 20 bits.
const EPOCH_1900_S = 2_208_988_800;
const LENGTHS = 2 ** 20;
const STARTS = 2 ** 33;

const MAX_READINGS = 3_000_000;

/**
 * Finds readings that an export contains twice: two phones of one person have the same label, and times are truncated to seconds.
 * The first one is kept, so that a repeated import changes nothing. An export is ordered by type, so only readings of the current
 * type are remembered, at most three million.
 */
export class RepeatedReadings {
  readonly #maxReadings: number;
  readonly #tables = new Map<string, ValueTable>();
  #identifier = '';
  #count = 0;

  constructor(maxReadings = MAX_READINGS) {
    this.#maxReadings = maxReadings;
  }

  /** Compares a reading with earlier ones. `identifier` is its HealthKit type. */
  standingOf(identifier: string, { type, source, start, end, value }: ImportedReading): Standing {
    if (identifier !== this.#identifier || this.#count >= this.#maxReadings) this.#begin(identifier);
    const [at, length] = [start / 1000 + EPOCH_1900_S, (end - start) / 1000];
    // health-data refuses larger values anyway.
    if (at < 0 || at >= STARTS || length >= LENGTHS || value === null) return 'first';
    const standing = this.#tableOf(`${type}|${source}`).compare(at * LENGTHS + length, value);
    if (standing === 'first') this.#count += 1;
    return standing;
  }

  #begin(identifier: string): void {
    this.#identifier = identifier;
    this.#tables.clear();
    this.#count = 0;
  }

  #tableOf(lane: string): ValueTable {
    const known = this.#tables.get(lane);
    if (known !== undefined) return known;
    const table = new ValueTable();
    this.#tables.set(lane, table);
    return table;
  }
}
