import { createPublicKey, hash, type JsonWebKey, type KeyObject, verify } from 'node:crypto';

/** Where a writer's chain stood when a checkpoint was taken. */
export interface ChainHead {
  readonly writer: string;
  readonly seq: number;
  /** base64url. */
  readonly hash: string;
}

/**
 * The signed content of a checkpoint. Each lists the chains that moved since the one before; what it leaves out stays signed by the
 * last checkpoint that lists it. Those of earlier releases list every chain, and have neither `base` nor `firstKept`.
 */
export interface CheckpointContent {
  /** Counts from 1 without gaps. */
  readonly number: number;
  /** Number of the last checkpoint that lists every recent chain: its own if it does. */
  readonly base?: number;
  /** Checkpoints with lower numbers have been dropped by policy; absent or 1 when none were. */
  readonly firstKept?: number;
  /** SHA-256 (base64url) of the checkpoint before, as the compact JWS that it is; null for the first. */
  readonly previous: string | null;
  /** Records before this RFC 3339 instant have been dropped by policy; null when none were. */
  readonly keptFrom: string | null;
  readonly heads: readonly ChainHead[];
}

/** `typ` of a checkpoint's JWS; no token or receipt passes as one. */
export const CHECKPOINT_TYPE = 'record-checkpoint+jwt';

/** What the next checkpoint names as `previous`. */
export function hashCheckpoint(jws: string): string {
  return hash('sha256', jws, 'base64url');
}

/** The Ed25519 keys of a JWKS (RFC 7517); others are left out. Throws for what is no JWKS. */
export function parseCheckpointKeys(jwks: string): KeyObject[] {
  const { keys } = JSON.parse(jwks) as { keys: (JsonWebKey & { crv?: string })[] };
  return keys.filter((key) => key.crv === 'Ed25519').map((key) => createPublicKey({ key, format: 'jwk' }));
}

/** The content of a checkpoint that one of the keys signed (RFC 7515, EdDSA); null for anything else. */
export function findCheckpointContent(jws: string, keys: readonly KeyObject[]): CheckpointContent | null {
  const [header = '', payload = '', signature = '', ...rest] = jws.split('.');
  if (rest.length > 0) return null;
  const signed = Buffer.from(`${header}.${payload}`);
  const bytes = Buffer.from(signature, 'base64url');
  try {
    if (!keys.some((key) => verify(null, signed, key, bytes))) return null;
    const { alg, typ } = decode(header) as { alg?: unknown; typ?: unknown };
    if (alg !== 'EdDSA' || typ !== CHECKPOINT_TYPE) return null;
    return decode(payload) as CheckpointContent;
  } catch {
    return null;
  }
}

/** A checkpoint's content and when it was signed, in Unix seconds. */
export type IssuedCheckpoint = CheckpointContent & { readonly iat: number };

/** The content of one's own checkpoint, unverified. */
export function readCheckpointContent(jws: string): IssuedCheckpoint {
  return decode(jws.split('.')[1] ?? '') as IssuedCheckpoint;
}

function decode(part: string): unknown {
  return JSON.parse(Buffer.from(part, 'base64url').toString());
}
