import { toHealthRecordKey } from './batcher.ts';
import type { ImportedHealthRecord, ImportedReading } from './importer.ts';

/** Whether an item is the first with its natural key, or how it compares with the first. */
export type Standing = 'first' | 'repeated' | 'contradicted';

/**
 * Remembers every natural key of a file, for formats in which a second statement is a mistake and not a correction. Stores one text
 * for each item, so it is not suitable for files with millions of items.
 */
export class FirstStatements {
  readonly #readings = new Map<string, string>();
  readonly #records = new Set<string>();

  standingOfReading({ type, start, end, value, unit, source }: ImportedReading): Standing {
    const key = `${type}|${start}|${end}|${source}`;
    const stated = this.#readings.get(key);
    if (stated === undefined) this.#readings.set(key, `${value} ${unit}`);
    if (stated === undefined) return 'first';
    return stated === `${value} ${unit}` ? 'repeated' : 'contradicted';
  }

  standingOfRecord({ key, source, record }: ImportedHealthRecord): Standing {
    const naturalKey = `${record.case}|${source}|${toHealthRecordKey(key, record)}`;
    if (this.#records.has(naturalKey)) return 'repeated';
    this.#records.add(naturalKey);
    return 'first';
  }
}
