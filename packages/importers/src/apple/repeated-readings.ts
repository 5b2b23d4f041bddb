import type { ImportedReading } from '../ingest/imported-item.ts';
import { type Standing, ValueTable } from './value-table.ts';

// Seconds since 1900 and the length of the interval fit into one exact number: 33 bits and 20 bits.
const EPOCH_1900_S = 2_208_988_800;
const LENGTHS = 2 ** 20;
const STARTS = 2 ** 33;

const MAX_READINGS = 3_000_000;

/**
 * Finds readings that an export states twice: two phones of one person get the same label, and moments are cut to seconds.
 * The first stays, so that importing the file again changes nothing. An export lists one type after the other, so only the
 * readings of the type that is being read are remembered, and of one type at most three million.
 */
export class RepeatedReadings {
  readonly #maxReadings: number;
  readonly #tables = new Map<string, ValueTable>();
  #identifier = '';
  #count = 0;

  constructor(maxReadings = MAX_READINGS) {
    this.#maxReadings = maxReadings;
  }

  /** Compares a reading with the earlier ones; `identifier` is the HealthKit type it comes from. */
  standingOf(identifier: string, { type, source, start, end, value }: ImportedReading): Standing {
    if (identifier !== this.#identifier || this.#count >= this.#maxReadings) this.#begin(identifier);
    const [at, length] = [start / 1000 + EPOCH_1900_S, (end - start) / 1000];
    // Beyond that health-data refuses it anyway.
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
