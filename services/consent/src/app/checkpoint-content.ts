import {
  type ChainHead,
  type CheckpointContent,
  hashCheckpoint,
  readCheckpointContent,
} from '@phds/record-chain/checkpoint';
import type { ChainState, StoredCheckpoint } from './access-ports.ts';

/**
 * Checkpoints from one that lists every recent chain to the next. A signer reads back to the last of them, so that it knows what is
 * signed from signatures alone, and not from a table that somebody could change unseen.
 */
const CHECKPOINTS_A_BASE = 500;

/** Old checkpoints that are about to be dropped. */
export interface CheckpointDrop {
  /** The first that stays. */
  readonly firstKept: number;
  /** Last signed heads of chains that they list and that still have batches. */
  readonly heads: readonly ChainHead[];
}

/**
 * The next checkpoint; null when there is nothing new to say. It vouches for no drop of records that policy does not allow, whatever
 * the database says: `keptBy` is when kept records begin at the latest.
 */
export function toNextCheckpoint(
  { recent, heads, keptFrom }: Pick<ChainState, 'recent' | 'heads' | 'keptFrom'>,
  keptBy: Date,
  drop: CheckpointDrop | null = null,
): CheckpointContent | null {
  const said = readLast(recent.at(-1));
  const signed = new Map<string, ChainHead>();
  for (const { jws } of recent) addHeads(signed, readCheckpointContent(jws).heads);
  const moved = heads.filter((head) => isBeyond(head, signed.get(head.writer)));
  const kept = keptFrom !== null && keptFrom <= keptBy ? keptFrom.toISOString() : said.keptFrom;
  const firstKept = Math.max(said.firstKept, drop?.firstKept ?? 1);
  if (moved.length === 0 && kept === said.keptFrom && firstKept === said.firstKept) return null;
  const number = said.number + 1;
  const isBase = said.base === null || number >= said.base + CHECKPOINTS_A_BASE;
  addHeads(signed, moved);
  // A chain that did not move is listed as it was signed, never as it stands now.
  const listed = isBase ? heads.map((head) => signed.get(head.writer) ?? head) : moved;
  return {
    number,
    base: isBase ? number : (said.base ?? number),
    firstKept,
    previous: said.hash,
    keptFrom: kept,
    heads: [...(drop?.heads ?? []), ...listed],
  };
}

/** What the last checkpoint says. One of an earlier release has no base: it lists every chain, and the next one does again. */
function readLast(last: StoredCheckpoint | undefined) {
  if (last === undefined) return { number: 0, base: null, firstKept: 1, keptFrom: null, hash: null };
  const { base = null, firstKept = 1, keptFrom } = readCheckpointContent(last.jws);
  return { number: last.number, base, firstKept, keptFrom, hash: hashCheckpoint(last.jws) };
}

/** Keeps the last head of each chain. */
export function addHeads(last: Map<string, ChainHead>, heads: readonly ChainHead[]): void {
  for (const head of heads) {
    if (isBeyond(head, last.get(head.writer))) last.set(head.writer, head);
  }
}

function isBeyond(head: ChainHead, signed: ChainHead | undefined): boolean {
  return signed === undefined || head.seq > signed.seq;
}
