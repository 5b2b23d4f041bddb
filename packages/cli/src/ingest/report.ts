/** What became of the items of one type. */
export interface TypeCounts {
  inserted: number;
  updated: number;
  unchanged: number;
}

/** Items of one type that share a reason. */
export interface RefusedGroup {
  readonly type: string;
  readonly reason: string;
  count: number;
  /** Where the first of them stand in the file. */
  readonly examples: string[];
}

export interface LeftOutGroup {
  readonly reason: string;
  /** How many of each type. */
  readonly types: Record<string, number>;
}

const MAX_EXAMPLES = 3;

// Types and reasons are ours, or checked names; the bound is for files that make them up.
const MAX_GROUPS = 1_000;

/** Counts what an import stored, refused and left out. */
export class ImportReport {
  readonly #readings = new Map<string, TypeCounts>();
  readonly #records = new Map<string, TypeCounts>();
  readonly #refused = new Map<string, RefusedGroup>();
  readonly #leftOut = new Map<string, LeftOutGroup>();
  #profile: readonly string[] = [];

  /** Adds what the service answered for a batch of one type. */
  addStored(kind: 'readings' | 'records', type: string, counts: TypeCounts): void {
    const types = kind === 'readings' ? this.#readings : this.#records;
    const sum = types.get(type) ?? { inserted: 0, updated: 0, unchanged: 0 };
    sum.inserted += counts.inserted;
    sum.updated += counts.updated;
    sum.unchanged += counts.unchanged;
    types.set(type, sum);
  }

  /** Counts an item that was not stored, with the reason and where it stands. */
  addRefused(type: string, reason: string, origin: string): void {
    const key = `${type}\n${reason}`;
    const group = this.#refused.get(key) ?? { type, reason, count: 0, examples: [] };
    group.count += 1;
    if (group.examples.length < MAX_EXAMPLES) group.examples.push(origin);
    if (this.#refused.size < MAX_GROUPS) this.#refused.set(key, group);
  }

  /** Counts an item that is not imported on purpose. */
  addLeftOut(type: string, reason: string): void {
    const group = this.#leftOut.get(reason) ?? { reason, types: {} };
    group.types[type] = (group.types[type] ?? 0) + 1;
    this.#leftOut.set(reason, group);
  }

  /** Notes which fields of the profile were set. */
  setProfile(fields: readonly string[]): void {
    this.#profile = fields;
  }

  /** The report as data. Types stand in alphabetical order, refusals by frequency. */
  toData() {
    const refused = [...this.#refused.values()].toSorted(byCount);
    const all = [...this.#readings.values(), ...this.#records.values()];
    return {
      stored: {
        inserted: sumOf(all, 'inserted'),
        updated: sumOf(all, 'updated'),
        unchanged: sumOf(all, 'unchanged'),
      },
      readings: toSorted(this.#readings),
      records: toSorted(this.#records),
      profile: [...this.#profile],
      refusedCount: refused.reduce((sum, { count }) => sum + count, 0),
      refused,
      leftOut: [...this.#leftOut.values()],
    };
  }
}

export type ReportData = ReturnType<ImportReport['toData']>;

function byCount(one: RefusedGroup, other: RefusedGroup): number {
  return other.count - one.count || one.type.localeCompare(other.type);
}

function sumOf(all: readonly TypeCounts[], member: keyof TypeCounts): number {
  return all.reduce((sum, counts) => sum + counts[member], 0);
}

function toSorted(types: ReadonlyMap<string, TypeCounts>): Record<string, TypeCounts> {
  return Object.fromEntries([...types].toSorted(([one], [other]) => one.localeCompare(other)));
}
