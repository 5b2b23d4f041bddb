import { createPublicKey, hash, type JsonWebKey, type KeyObject, verify } from 'node:crypto';
import { checkpointFault, type Fault } from './fault.ts';

/** The position of a writer's chain at a checkpoint. */
export interface ChainHead {
  readonly writer: string;
  readonly seq: number;
  /** base64url. */
  readonly hash: string;
}

/**
 * The signed content of a checkpoint. It lists the chains that were written to since a day before the previous one; other chains remain
 * signed by the last checkpoint that lists them. No checkpoint is ever removed.
 */
export interface CheckpointContent {
  /** Starts at 1, without gaps. */
  readonly number: number;
  /** SHA-256 (base64url) of the previous checkpoint's compact JWS; null for the first. */
  readonly previous: string | null;
  /** Records before this RFC 3339 instant were dropped by policy; null if none were. */
  readonly keptFrom: string | null;
  readonly heads: readonly ChainHead[];
}

/** `typ` of a checkpoint's JWS, which prevents confusion with tokens and receipts. */
export const CHECKPOINT_TYPE = 'record-checkpoint+jwt';

/** The value of `previous` in the next checkpoint. */
export function hashCheckpoint(jws: string): string {
  return hash('sha256', jws, 'base64url');
}

/** Parses a JWKS (RFC 7517) and returns its Ed25519 keys. Throws if it is not a JWKS. */
export function parseCheckpointKeys(jwks: string): KeyObject[] {
  const { keys } = JSON.parse(jwks) as { keys: (JsonWebKey & { crv?: string })[] };
  return keys.filter((key) => key.crv === 'Ed25519').map((key) => createPublicKey({ key, format: 'jwk' }));
}

/** The content of a checkpoint signed by one of the keys (RFC 7515, EdDSA); null for anything else. */
export function findCheckpointContent(jws: string, keys: readonly KeyObject[]): IssuedCheckpoint | null {
  const [header = '', payload = '', signature = '', ...rest] = jws.split('.');
  if (rest.length > 0) return null;
  const signed = Buffer.from(`${header}.${payload}`);
  const bytes = Buffer.from(signature, 'base64url');
  try {
    if (!keys.some((key) => verify(null, signed, key, bytes))) return null;
    const { alg, typ } = decode(header) as { alg?: unknown; typ?: unknown };
    if (alg !== 'EdDSA' || typ !== CHECKPOINT_TYPE) return null;
    return decode(payload) as IssuedCheckpoint;
  } catch {
    return null;
  }
}

/** A checkpoint's content and when it was signed, in Unix seconds. */
export type IssuedCheckpoint = CheckpointContent & { readonly iat: number };

/** The content of the caller's own checkpoint, unverified. */
export function readCheckpointContent(jws: string): IssuedCheckpoint {
  return decode(jws.split('.')[1] ?? '') as IssuedCheckpoint;
}

function decode(part: string): unknown {
  return JSON.parse(Buffer.from(part, 'base64url').toString());
}

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
