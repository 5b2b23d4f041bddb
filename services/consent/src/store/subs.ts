import { base62, findBase62Bytes } from '@phds/service-kit/ids';

const PREFIX = 'sub_';
const BYTES = 16;

/** The `sub` of a person for one app, from the result of the database function `sub_hash`. */
export function toSub(hash: Uint8Array): string {
  return `${PREFIX}${base62(hash)}`;
}

/** The hash of a `sub`; null for a text that is none. */
export function findSubHash(sub: string): Uint8Array | null {
  return sub.startsWith(PREFIX) ? findBase62Bytes(sub.slice(PREFIX.length), BYTES) : null;
}
