import { z } from 'zod';
import { toTable } from '../../terminal.ts';

const count = z.number().int().nonnegative();
const stored = z.object({ inserted: count, updated: count, unchanged: count });

const REPORT = z.object({
  stored,
  readings: z.record(z.string(), stored),
  records: z.record(z.string(), stored),
  /** The fields that were set. */
  profile: z.array(z.string()),
  refusedCount: count,
  /** Items of one type with the same reason, and where the first ones are in the file. */
  refused: z.array(z.object({ type: z.string(), reason: z.string(), count, examples: z.array(z.string()) })),
  leftOutCount: count,
  /** The number of items by type. */
  leftOut: z.array(z.object({ reason: z.string(), types: z.record(z.string(), count) })),
});

export type ReportData = z.infer<typeof REPORT>;
/** The results of the items of one type. */
type TypeCounts = ReportData['stored'];
type RefusedGroup = ReportData['refused'][number];

const MAX_EXAMPLES = 3;
const TYPE_LENGTH = 80;
const REASON_LENGTH = 200;
const EXAMPLE_LENGTH = 120;

// Types and reasons are ours or validated names. The limits protect against files that invent names; further ones are counted as
// `other`, so that the sums are correct.
const MAX_REFUSED_GROUPS = 100;
const MAX_LEFT_OUT_TYPES = 300;
const OTHER = 'other';
const OTHER_KEY = JSON.stringify([OTHER, OTHER]);

/** Counts what an import stored, refused and skipped. */
export class ImportReport {
  readonly #readings = new Map<string, TypeCounts>();
  readonly #records = new Map<string, TypeCounts>();
  readonly #refused = new Map<string, RefusedGroup>();
  readonly #leftOut = new Map<string, Map<string, number>>();
  #leftOutTypes = 0;
  #profile: readonly string[] = [];

  /** `earlier` is counted too. */
  constructor(earlier: ReportData | null = null) {
    if (earlier !== null) this.#add(earlier);
  }

  /** Adds the service's counts for a batch of one type. */
  addStored(kind: 'readings' | 'records', type: string, counts: TypeCounts): void {
    const types = kind === 'readings' ? this.#readings : this.#records;
    const sum = types.get(type) ?? { inserted: 0, updated: 0, unchanged: 0 };
    sum.inserted += counts.inserted;
    sum.updated += counts.updated;
    sum.unchanged += counts.unchanged;
    types.set(type, sum);
  }

  /** Counts an item that was not stored, with its reason and position. */
  addRefused(type: string, reason: string, origin: string): void {
    const group = this.#refusedGroup(type, reason);
    group.count += 1;
    if (group.examples.length < MAX_EXAMPLES) group.examples.push(toPlainText(origin, EXAMPLE_LENGTH));
  }

  /** Counts items that were skipped on purpose. */
  addLeftOut(type: string, reason: string, count = 1): void {
    const known = this.#leftOut.get(reason);
    const counted = known?.get(type);
    if (known !== undefined && counted !== undefined) known.set(type, counted + count);
    else if (this.#leftOutTypes >= MAX_LEFT_OUT_TYPES) this.#countLeftOut(OTHER, OTHER, count);
    else this.#countLeftOut(toPlainText(type, TYPE_LENGTH), toPlainText(reason, REASON_LENGTH), count);
  }

  /** Records which profile fields were set. */
  setProfile(fields: readonly string[]): void {
    this.#profile = fields;
  }

  /** Converts the report to data. Types are sorted alphabetically, refusals by frequency. */
  toData(): ReportData {
    const refused = [...this.#refused.values()].toSorted(byCount);
    const all = [...this.#readings.values(), ...this.#records.values()];
    const leftOut = [...this.#leftOut].map(([reason, types]) => ({
      reason,
      types: Object.fromEntries(types),
    }));
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
      leftOutCount: leftOut.reduce((sum, { types }) => sum + sumOfValues(types), 0),
      leftOut,
    };
  }

  #add({ readings, records, refused, leftOut, profile }: ReportData): void {
    for (const [type, counts] of Object.entries(readings)) this.addStored('readings', type, counts);
    for (const [type, counts] of Object.entries(records)) this.addStored('records', type, counts);
    for (const { type, reason, count, examples } of refused) {
      const group = this.#refusedGroup(type, reason);
      group.count += count;
      group.examples.push(...examples);
    }
    for (const { reason, types } of leftOut) {
      for (const [type, count] of Object.entries(types)) this.addLeftOut(type, reason, count);
    }
    this.#profile = profile;
  }

  #countLeftOut(type: string, reason: string, count: number): void {
    const types = this.#leftOut.get(reason) ?? new Map<string, number>();
    if (!types.has(type) && type !== OTHER) this.#leftOutTypes += 1;
    types.set(type, (types.get(type) ?? 0) + count);
    this.#leftOut.set(reason, types);
  }

  #refusedGroup(givenType: string, givenReason: string): RefusedGroup {
    const [type, reason] = [toPlainText(givenType, TYPE_LENGTH), toPlainText(givenReason, REASON_LENGTH)];
    const key = JSON.stringify([type, reason]);
    const known = this.#refused.get(key);
    if (known !== undefined) return known;
    const isFull = this.#refused.size >= MAX_REFUSED_GROUPS + (this.#refused.has(OTHER_KEY) ? 1 : 0);
    if (isFull && key !== OTHER_KEY) return this.#refusedGroup(OTHER, OTHER);
    const group: RefusedGroup = { type, reason, count: 0, examples: [] };
    this.#refused.set(key, group);
    return group;
  }
}

/** Removes control characters and limits the length, because texts of a file go to terminals and into a bounded document. */
function toPlainText(text: string, maxLength: number): string {
  return text.slice(0, maxLength).replaceAll(/\p{Cc}/gu, ' ');
}

function byCount(one: RefusedGroup, other: RefusedGroup): number {
  return other.count - one.count || one.type.localeCompare(other.type);
}

function sumOf(all: readonly TypeCounts[], member: keyof TypeCounts): number {
  return all.reduce((sum, counts) => sum + counts[member], 0);
}

function sumOfValues(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

function toSorted(types: ReadonlyMap<string, TypeCounts>): Record<string, TypeCounts> {
  return Object.fromEntries([...types].toSorted(([one], [other]) => one.localeCompare(other)));
}

/** Parses the report of an earlier run; null if this version did not write it. */
export function parseReportData(text: string): ReportData | null {
  try {
    return REPORT.parse(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError) return null;
    throw error;
  }
}

/** Formats the report for a terminal. */
export function reportText(report: ReportData): string {
  const total = report.stored;
  const blocks = [
    table('Readings', report.readings),
    table('Records', report.records),
    report.profile.length === 0 ? '' : `Profile: ${report.profile.join(', ')}`,
    leftOutText(report),
    refusedText(report),
    `${total.inserted} new, ${total.updated} updated, ${total.unchanged} unchanged, ${report.leftOutCount} left out, ${report.refusedCount} refused.`,
  ];
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

function table(title: string, types: Readonly<Record<string, TypeCounts>>): string {
  const rows = Object.entries(types).map(([type, { inserted, updated, unchanged }]) => {
    return [type, ...[inserted, updated, unchanged].map(String)];
  });
  return rows.length === 0 ? '' : toTable([[title, 'new', 'updated', 'unchanged'], ...rows]).trimEnd();
}

function leftOutText({ leftOut }: ReportData): string {
  if (leftOut.length === 0) return '';
  const lines = leftOut.map(({ reason, types }) => {
    const counts = Object.entries(types).map(([type, count]) => `${type} ${count}`);
    return `  ${reason}: ${counts.join(', ')}`;
  });
  return ['Left out on purpose', ...lines].join('\n');
}

function refusedText({ refused }: ReportData): string {
  if (refused.length === 0) return '';
  const lines = refused.map(
    ({ type, reason, count, examples }) => `  ${count} × ${type}: ${reason} (${examples.join(', ')})`,
  );
  return ['Refused', ...lines].join('\n');
}
