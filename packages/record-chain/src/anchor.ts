import { hashCheckpoint, readCheckpointContent } from './checkpoint.ts';
import { checkpointFault, type Fault } from './fault.ts';

/**
 * What names a checkpoint outside the database. Whoever can change the database can cut off its newest checkpoints with their records, and
 * what is left verifies; only a copy elsewhere shows that there was more. The head fixes the checkpoint and all before it.
 */
export interface CheckpointAnchor {
  readonly number: number;
  /** SHA-256 (base64url) of the checkpoint's compact JWS. */
  readonly head: string;
  /** RFC 3339. */
  readonly signedAt: string;
  /** The signature (base64url) of the JWS. It is no bearer token without its content, so it may be logged. */
  readonly signature: string;
}

export function toAnchor(jws: string): CheckpointAnchor {
  const { number, iat } = readCheckpointContent(jws);
  return {
    number,
    head: hashCheckpoint(jws),
    signedAt: new Date(iat * 1000).toISOString(),
    signature: jws.split('.')[2] ?? '',
  };
}

const UNKNOWN_TIME = 'an unknown time';

/** Reads an anchor from a line of JSON, which may have more fields, as a line of the log has. Throws for anything else. */
export function parseAnchor(line: string): CheckpointAnchor {
  const { number, head, signedAt, signature } = JSON.parse(line) as Partial<CheckpointAnchor>;
  const isAnchor = Number.isSafeInteger(number) && /^[\w-]{43}$/.test(head ?? '');
  if (!isAnchor || number === undefined || head === undefined) throw new TypeError('not an anchor');
  return { number, head, signedAt: signedAt ?? UNKNOWN_TIME, signature: signature ?? '' };
}

/** Compares an anchor with the stored checkpoint of its number, null if there is none. */
export function findAnchorFault(
  { number, head, signedAt }: CheckpointAnchor,
  stored: string | null,
): Fault | null {
  if (stored !== null && hashCheckpoint(stored) === head) return null;
  const again = stored === null ? '' : toAnchor(stored).signedAt;
  // A restored database signs new checkpoints with the numbers of the lost ones.
  if (again > signedAt && signedAt !== UNKNOWN_TIME)
    return checkpointFault(
      'removed',
      `the anchor from ${signedAt} names checkpoint ${number}, which is gone: its number was used again at ${again}, as after a restore`,
    );
  if (stored !== null)
    return checkpointFault('changed', `checkpoint ${number} is not the one of the anchor from ${signedAt}`);
  return checkpointFault('removed', `the anchor from ${signedAt} names checkpoint ${number}, which is gone`);
}
