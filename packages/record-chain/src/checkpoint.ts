import { createPublicKey, hash, type JsonWebKey, type KeyObject, verify } from 'node:crypto';

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
