import type { DeveloperApp } from '../../api/resources.ts';

/** Everything of a public key that the service needs (RFC 7517, RFC 7518). */
const PUBLIC_MEMBERS = ['kty', 'crv', 'x', 'y', 'n', 'e', 'kid', 'alg', 'use', 'key_ops'];
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];

export type KeyFault = 'keysPrivate' | 'keysUnreadable';

type ReadKeys = { readonly jwks: DeveloperApp['jwks'] } | { readonly fault: KeyFault };

/**
 * Reads a JSON Web Key Set or one key of it; an empty text is no keys. Only public members are kept, so that no part of a private key
 * leaves the page.
 */
export function readPublicKeys(input: string): ReadKeys {
  if (input.trim() === '') return { jwks: null };
  if (input.includes('PRIVATE KEY')) return { fault: 'keysPrivate' };
  const keys = findKeys(input);
  if (keys === null) return { fault: 'keysUnreadable' };
  if (keys.some((key) => PRIVATE_MEMBERS.some((name) => name in key))) return { fault: 'keysPrivate' };
  const toPublic = (key: object) =>
    Object.fromEntries(Object.entries(key).filter(([name]) => PUBLIC_MEMBERS.includes(name)));
  return { jwks: { keys: keys.map(toPublic) } };
}

function findKeys(input: string): readonly object[] | null {
  try {
    const value: unknown = JSON.parse(input);
    const { keys = [value] } = value as { readonly keys?: readonly unknown[] };
    const isKey = (key: unknown): key is object => typeof key === 'object' && key !== null && 'kty' in key;
    return keys.every(isKey) ? keys : null;
  } catch {
    return null;
  }
}
