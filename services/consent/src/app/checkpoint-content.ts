import {
  type ChainHead,
  type CheckpointContent,
  hashCheckpoint,
  readCheckpointContent,
} from '@phds/record-chain/checkpoint';
import type { ChainState } from './access-ports.ts';

/**
 * The next checkpoint; null when nothing has changed. It never confirms a drop of records that policy does not allow, whatever the
 * database contains: kept records begin at `keptBy` at the latest.
 */
export function toNextCheckpoint(
  { last, heads, keptFrom }: ChainState,
  keptBy: Date,
): CheckpointContent | null {
  const said = last === null ? null : readCheckpointContent(last.jws);
  const saidFrom = said?.keptFrom ?? null;
  const kept = keptFrom !== null && keptFrom <= keptBy ? keptFrom.toISOString() : saidFrom;
  const signed = new Map(said?.heads.map(({ writer, seq }) => [writer, seq]));
  const hasMoved = ({ writer, seq }: ChainHead) => seq > (signed.get(writer) ?? -1);
  if (!heads.some(hasMoved) && kept === saidFrom) return null;
  return {
    number: (last?.number ?? 0) + 1,
    previous: last === null ? null : hashCheckpoint(last.jws),
    keptFrom: kept,
    heads,
  };
}
