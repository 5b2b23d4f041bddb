import { expect } from '@jest/globals';
import type {
  ImportedHealthRecord,
  ImportedProfile,
  ImportedReading,
  Importer,
} from '../../src/importers/ingest/importer.ts';
import type { ByteSource } from '../../src/importers/tables/lines.ts';

/** A text or bytes as a source with chunks of this size. */
export function sourceOf(content: string | Uint8Array, name: string, chunkBytes = 64 * 1024): ByteSource {
  const bytes = Buffer.from(content as Uint8Array);
  return {
    name,
    size: bytes.length,
    async *read() {
      for (let start = 0; start < bytes.length; start += chunkBytes) {
        yield bytes.subarray(start, start + chunkBytes);
      }
    },
  };
}

/** A reading in readable form. */
type ReadingText = Omit<ImportedReading, 'start' | 'end'> & {
  readonly start: string;
  readonly end: string;
};

/** Everything that an importer passes on for some files. */
interface CollectedItems {
  readonly readings: ReadingText[];
  readonly records: ImportedHealthRecord[];
  /** `type: reason`, one each. */
  readonly leftOut: string[];
  /** `type: reason (origin)`, one each. */
  readonly refused: string[];
  profile: ImportedProfile;
  readonly positions: number[];
  /** The number of items before each position. */
  readonly countsBefore: number[];
}

export interface CollectOptions {
  readonly patient?: string;
  /** Position to resume from. */
  readonly from?: number;
  readonly timeZone?: string;
}

/** Reads files with an importer and collects the result. Rejects with UnusableFile. */
export async function collect(
  importer: Importer,
  paths: readonly string[],
  { patient, from = 0, timeZone = 'UTC' }: CollectOptions = {},
): Promise<CollectedItems> {
  await using source = await importer.open({ paths, patient: patient ?? null, onChecked: () => undefined });
  const items: CollectedItems = {
    readings: [],
    records: [],
    leftOut: [],
    refused: [],
    profile: {},
    positions: [],
    countsBefore: [],
  };
  await source.read(
    {
      take(outcome, itemType, origin) {
        if (outcome.kind === 'reading') {
          const { start, end, ...reading } = outcome.reading;
          items.readings.push({ start: toText(start), end: toText(end), ...reading });
        } else if (outcome.kind === 'record') items.records.push(outcome.record);
        else if (outcome.kind === 'profile') items.profile = { ...items.profile, ...outcome.facts };
        else {
          const text = `${outcome.type ?? itemType}: ${outcome.reason}`;
          if (outcome.kind === 'left-out') items.leftOut.push(text);
          else items.refused.push(`${text} (${origin})`);
        }
      },
      reached: async (position) => {
        items.positions.push(position);
        items.countsBefore.push(countOf(items));
      },
    },
    from,
    timeZone,
  );
  return items;
}

function toText(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('.000Z', 'Z');
}

/**
 * Expects that a run from each position yields exactly what an uninterrupted run yields after it, and all facts about the person. Returns
 * what the uninterrupted run yields.
 */
export async function expectResumable(
  importer: Importer,
  paths: readonly string[],
  options: CollectOptions = {},
): Promise<CollectedItems> {
  const whole = await collect(importer, paths, options);
  for (const [index, from] of whole.positions.entries()) {
    const rest = await collect(importer, paths, { ...options, from });
    expect(rest.positions).toEqual(whole.positions.slice(index + 1));
    expect(rest.profile).toEqual(whole.profile);
    expect(countOf(rest)).toBe(countOf(whole) - (whole.countsBefore[index] ?? 0));
    for (const kind of ['readings', 'records', 'leftOut', 'refused'] as const) {
      expect(rest[kind]).toEqual(whole[kind].slice(whole[kind].length - rest[kind].length));
    }
  }
  return whole;
}

/** The number of collected items. */
function countOf({ readings, records, leftOut, refused }: CollectedItems): number {
  return readings.length + records.length + leftOut.length + refused.length;
}
