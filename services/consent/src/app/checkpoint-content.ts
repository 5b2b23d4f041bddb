import {
  type ChainHead,
  type CheckpointContent,
  hashCheckpoint,
  readCheckpointContent,
} from '@phds/record-chain/checkpoint';
import type { ChainState, StoredCheckpoint } from './access-ports.ts';

/**
 * Distance between checkpoints that list every recent chain. A signer reads back to the last of them, so that it relies on
 * signatures only and not on a table that somebody could change unnoticed.
 */
const CHECKPOINTS_A_BASE = 500;

/** Old checkpoints about to be dropped. */
export interface CheckpointDrop {
  /** Number of the first one that is kept. */
  readonly firstKept: number;
  /** The last signed heads of the chains that they list and that still have batches. */
  readonly heads: readonly ChainHead[];
}

/**
 * The next checkpoint; null when nothing has changed. It never confirms a drop of records that policy does not allow, whatever the
 * database contains: kept records begin at `keptBy` at the latest.
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
  // A chain that did not move is listed with its signed head, not with its current one.
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

/** The content of the last checkpoint. One of an earlier release has no base: it lists every chain, and so does the next one. */
function readLast(last: StoredCheckpoint | undefined) {
  if (last === undefined) return { number: 0, base: null, firstKept: 1, keptFrom: null, hash: null };
  const { base = null, firstKept = 1, keptFrom } = readCheckpointContent(last.jws);
  return { number: last.number, base, firstKept, keptFrom, hash: hashCheckpoint(last.jws) };
}

/** Adds the last head of each chain. */
export function addHeads(last: Map<string, ChainHead>, heads: readonly ChainHead[]): void {
  for (const head of heads) {
    if (isBeyond(head, last.get(head.writer))) last.set(head.writer, head);
  }
}

function isBeyond(head: ChainHead, signed: ChainHead | undefined): boolean {
  return signed === undefined || head.seq > signed.seq;
}
