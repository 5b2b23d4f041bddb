import { readCheckpointContent } from '@phds/record-chain/checkpoint';
import { NotConfigured } from '../connection.ts';
import type { RecordsSnapshot } from './snapshot.ts';

const DAY_MS = 86_400_000;

/** Which part of the records: a UTC month, what may have been recorded after a checkpoint, or, if null, all. */
export type RangeChoice = { readonly month: string } | { readonly fromCheckpoint: number } | null;

export interface RecordsRange {
  /** An instant of RFC 3339, or `-infinity`. */
  readonly from: string;
  /** Exclusive; null for everything from then on. */
  readonly to: string | null;
  /** Number of the first checkpoint that is read; null for the last one signed before the range. */
  readonly firstCheckpoint: number | null;
}

export const EVERYTHING: RecordsRange = { from: '-infinity', to: null, firstCheckpoint: 1 };

export async function findRange(snapshot: RecordsSnapshot, choice: RangeChoice): Promise<RecordsRange> {
  if (choice === null) return EVERYTHING;
  if ('month' in choice) return toMonth(choice.month);
  const number = choice.fromCheckpoint;
  const [checkpoint] = await snapshot.query<{ jws: string }>(
    'SELECT jws FROM consent_audit.access_checkpoint WHERE number = $1',
    [number],
  );
  if (checkpoint === undefined) throw new NotConfigured(`There is no checkpoint ${number}.`);
  // A record is committed up to ACCESS_CLOCK_TOLERANCE_MS, at most a day, after its time.
  const from = new Date(readCheckpointContent(checkpoint.jws).iat * 1000 - DAY_MS).toISOString();
  return { ...EVERYTHING, from, firstCheckpoint: number };
}

function toMonth(month: string): RecordsRange {
  const from = new Date(`${month}-01T00:00:00Z`);
  const to = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + 1));
  return { from: from.toISOString(), to: to.toISOString(), firstCheckpoint: null };
}
