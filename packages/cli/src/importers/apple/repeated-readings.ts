import type { ImportedReading, ImportSink, Origin } from '../ingest/importer.ts';
import type { Outcome } from './records.ts';

/** Whether a key is new, or how its value compares with the first one. */
type Repetition = 'first' | 'repeated' | 'contradicted';

const FIRST_SLOTS = 64;
const FULLEST = 0.75;

/**
 * Stores a number, to seven digits, for each key (a non-negative safe integer). Uses open addressing over typed arrays with 16 to
 * 32 bytes a key; a Map needs several times the memory and slows garbage collection.
 */
class ValueTable {
  // 0 marks an empty slot, so keys are stored one higher.
  #keys = new Float64Array(FIRST_SLOTS);
  #values = new Float32Array(FIRST_SLOTS);
  #count = 0;

  /** Stores the value of a new key; the value of a known key is kept. */
  compare(key: number, value: number): Repetition {
    const slot = slotOf(this.#keys, key + 1);
    if (this.#keys[slot] !== 0)
      return this.#values[slot] === Math.fround(value) ? 'repeated' : 'contradicted';
    this.#keys[slot] = key + 1;
    this.#values[slot] = value;
    this.#count += 1;
    if (this.#count > this.#keys.length * FULLEST) this.#grow();
    return 'first';
  }

  #grow(): void {
    const [keys, values] = [new Float64Array(this.#keys.length * 2), new Float32Array(this.#keys.length * 2)];
    for (const [index, key] of this.#keys.entries()) {
      if (key === 0) continue;
      const slot = slotOf(keys, key);
      keys[slot] = key;
      values[slot] = this.#values[index] ?? 0;
    }
    this.#keys = keys;
    this.#values = values;
  }
}

/** The slot of a key, occupied or free. The number of slots is a power of two. */
function slotOf(keys: Float64Array, key: number): number {
  const mask = keys.length - 1;
  const mixed = Math.imul(key / 2 ** 20, 0x9e3779b1) ^ Math.imul(key % 2 ** 20, 0x85ebca6b);
  let slot = (mixed ^ (mixed >>> 15)) & mask;
  while (keys[slot] !== 0 && keys[slot] !== key) slot = (slot + 1) & mask;
  return slot;
}

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
  repetitionOf(identifier: string, { type, source, start, end, value }: ImportedReading): Repetition {
    if (identifier !== this.#identifier || this.#count >= this.#maxReadings) this.#begin(identifier);
    const [at, length] = [start / 1000 + EPOCH_1900_S, (end - start) / 1000];
    // health-data refuses larger values anyway.
    if (at < 0 || at >= STARTS || length >= LENGTHS || value === null) return 'first';
    const repetition = this.#tableOf(`${type}|${source}`).compare(at * LENGTHS + length, value);
    if (repetition === 'first') this.#count += 1;
    return repetition;
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

/** Passes the outcome of an element to the sink. */
export function handOver(outcome: Outcome, sink: ImportSink, origin: Origin): void {
  if (outcome.kind === 'reading') sink.reading(outcome.reading, origin);
  else if (outcome.kind === 'record') sink.record(outcome.record, origin);
  else if (outcome.kind === 'profile') sink.profile(outcome.facts);
  else if (outcome.kind === 'left-out') sink.leftOut(outcome.type, outcome.reason);
  else sink.refused(outcome.type, outcome.reason, origin);
}

/** Passes the first reading of its type, times and source to the sink, and counts the others with a reason. */
export function handOverReading(
  reading: ImportedReading,
  repetition: Repetition,
  sink: ImportSink,
  origin: Origin,
): void {
  if (repetition === 'first') sink.reading(reading, origin);
  else if (repetition === 'repeated') sink.leftOut(reading.type, 'stated twice in the file');
  else
    sink.refused(
      reading.type,
      'an earlier item in the file has another value for the same time and source',
      origin,
    );
}
