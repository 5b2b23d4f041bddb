import { type FileHandle, open } from 'node:fs/promises';
import { type CheckpointAnchor, findAnchorFault, parseAnchor, toAnchor } from '@phds/record-chain/checkpoint';
import type { Fault } from '@phds/record-chain/fault';
import { NotConfigured } from '../connection.ts';
import { findStoredCheckpoints } from './chain-source.ts';
import type { RecordsSnapshot } from './connection.ts';

const ANCHORS_AT_ONCE = 500;

/** A file of anchors, one a line. */
interface AnchorFile extends AsyncDisposable {
  readonly path: string;
  readonly file: FileHandle;
  /** What is read of it in bytes. */
  readonly size: number;
}

export interface AnchorProgress {
  anchors: number;
  /** Lines that a full disk or a crash cut short. */
  incompleteAnchors: number;
  /** When the newest checkpoint that an anchor names was signed (RFC 3339); null for none. */
  anchoredUntil: string | null;
}

/**
 * Opens a file of anchors as it is now. Has to be called before the database is read: a checkpoint that is signed afterwards is in neither of
 * them.
 */
export async function openAnchors(path: string): Promise<AnchorFile> {
  const file = await open(path);
  const stats = await file.stat();
  // A pipe has no size.
  const size = stats.isFile() ? stats.size : Number.POSITIVE_INFINITY;
  return { path, file, size, [Symbol.asyncDispose]: () => file.close() };
}

/**
 * Compares anchors with the stored checkpoints. Returns the first fault or null. Throws if the file names no checkpoint,
 * because then it proves nothing.
 */
export async function findFaultOfAnchors(
  anchorFile: AnchorFile,
  snapshot: RecordsSnapshot,
  progress: AnchorProgress,
): Promise<Fault | null> {
  for await (const anchors of readAnchors(anchorFile, progress)) {
    const fault = await compare(anchors, snapshot, progress);
    if (fault !== null) return fault;
    progress.anchors += anchors.length;
  }
  if (progress.anchors === 0) throw new NotConfigured(`${anchorFile.path}: no anchor of a checkpoint.`);
  return null;
}

async function* readAnchors(
  { path, file, size }: AnchorFile,
  progress: AnchorProgress,
): AsyncGenerator<CheckpointAnchor[]> {
  if (size === 0) return;
  let anchors: CheckpointAnchor[] = [];
  let number = 0;
  for await (const line of file.readLines({ autoClose: false, end: size - 1 })) {
    number += 1;
    if (line.trim() === '') continue;
    const anchor = parseLine(line, `${path}: line ${number} is not an anchor.`);
    if (anchor === null) progress.incompleteAnchors += 1;
    else anchors.push(anchor);
    if (anchors.length < ANCHORS_AT_ONCE) continue;
    yield anchors;
    anchors = [];
  }
  yield anchors;
}

/** Null for an incomplete line. */
function parseLine(line: string, problem: string): CheckpointAnchor | null {
  try {
    return parseAnchor(line);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw new NotConfigured(problem);
  }
}

async function compare(
  anchors: readonly CheckpointAnchor[],
  snapshot: RecordsSnapshot,
  progress: AnchorProgress,
): Promise<Fault | null> {
  const stored = await findStoredCheckpoints(
    snapshot,
    anchors.map(({ number }) => number),
  );
  for (const anchor of anchors) {
    const fault = findAnchorFault(anchor, stored.get(anchor.number) ?? null);
    if (fault !== null) return fault;
    const jws = stored.get(anchor.number);
    const signedAt = jws === undefined ? '' : toAnchor(jws).signedAt;
    if (signedAt > (progress.anchoredUntil ?? '')) progress.anchoredUntil = signedAt;
  }
  return null;
}
