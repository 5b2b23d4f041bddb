import type {
  ImportedHealthRecord,
  ImportedProfile,
  ImportedReading,
  Importer,
} from '../../src/importers/ingest/importer.ts';

/** A reading in readable form. */
export type ReadingText = Omit<ImportedReading, 'start' | 'end'> & {
  readonly start: string;
  readonly end: string;
};

/** Everything that an importer passes on for some files. */
export interface CollectedItems {
  readonly readings: ReadingText[];
  readonly records: ImportedHealthRecord[];
  /** `type: reason`, one each. */
  readonly leftOut: string[];
  /** `type: reason (origin)`, one each. */
  readonly refused: string[];
  profile: ImportedProfile;
  readonly positions: number[];
}

export interface CollectOptions {
  readonly patient?: string;
  /** Position to resume from. */
  readonly from?: number;
}

/** Reads files with an importer and collects the result. Rejects with UnusableFile. */
export async function collect(
  importer: Importer,
  paths: readonly string[],
  { patient, from = 0 }: CollectOptions = {},
): Promise<CollectedItems> {
  await using source = await importer.open({ paths, patient: patient ?? null, onChecked: () => undefined });
  const items: CollectedItems = {
    readings: [],
    records: [],
    leftOut: [],
    refused: [],
    profile: {},
    positions: [],
  };
  const describe = (origin: number | string) =>
    typeof origin === 'number' ? source.describe(origin) : origin;
  await source.read(
    {
      reading: ({ start, end, ...reading }) =>
        void items.readings.push({ start: toText(start), end: toText(end), ...reading }),
      record: (record) => void items.records.push(record),
      leftOut: (type, reason) => void items.leftOut.push(`${type}: ${reason}`),
      refused: (type, reason, origin) => void items.refused.push(`${type}: ${reason} (${describe(origin)})`),
      profile: (facts) => {
        items.profile = { ...items.profile, ...facts };
      },
      reached: async (position) => void items.positions.push(position),
    },
    from,
  );
  return items;
}

function toText(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('.000Z', 'Z');
}

/** The number of collected items. */
export function countOf({ readings, records, leftOut, refused }: CollectedItems): number {
  return readings.length + records.length + leftOut.length + refused.length;
}
