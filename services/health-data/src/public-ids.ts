import {
  type Cipheriv,
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hash,
  hkdfSync,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { toUuid } from './row-ids.ts';

/** Prefixes of public ids; 32 hexadecimal digits follow. */
export type IdPrefix = 'rdg' | 'sym' | 'med' | 'adh' | 'cnd' | 'alg' | 'apt' | 'wgt' | 'mood' | 'rpt' | 'ehr';

interface Row {
  readonly id: string;
}

/**
 * Ids and entity tags for one reader: an app, or the person themselves. They are stable for that reader, differ from every other
 * reader's, and cannot be computed without the server's key.
 */
export interface ReaderIds {
  /** The public ids of rows, in the same order. */
  toPublicIds(prefix: IdPrefix, rows: readonly Row[]): string[];
  /**
   * The row id of a public id; null if it is malformed. An invented id, or one of another reader, gives a row id that does not
   * exist.
   */
  findRowId(prefix: IdPrefix, publicId: string): string | null;
  /** Blocks of 16 bytes, each encrypted by itself as those of row ids are. */
  encrypt(blocks: Uint8Array): Buffer;
  decrypt(blocks: Uint8Array): Buffer;
  /** The opaque part of an entity tag for this text. */
  toTag(text: string | Uint8Array): string;
  /** The text, encrypted and authenticated for a context; the same text always gives the same result. base64url. */
  seal(text: string, context: string): string;
  /** The text of `seal`; null for anything that was not sealed for this reader and context. */
  open(sealed: string, context: string): string | null;
}

/** The ids of a reader, which is a client id or a name that no client id can equal. */
export type PublicIds = (reader: string) => ReaderIds;

// Deriving keys and creating a cipher takes ten times as long as a page of ids. An entry takes a few KB.
const MAX_READERS_KEPT = 1_000;

/** Derives each reader's keys from one server key, and caches those of the most recent readers. */
export function createPublicIds(serverKey: Uint8Array): PublicIds {
  const kept = new LRUCache<string, ReaderIds>({ max: MAX_READERS_KEPT });
  return (reader) => {
    const known = kept.get(reader);
    if (known !== undefined) return known;
    const ids = createReaderIds(serverKey, reader);
    kept.set(reader, ids);
    return ids;
  };
}

const KEY_BYTES = 32;
const ID_DIGITS = 32;

// 162 of the 256 bits: more than enough to distinguish bodies, in a short header. Because the rest is secret, no hash of a longer
// text can be computed from a tag, so simply prefixing the key is safe. An HMAC object would cost 16 µs more CPU for each response.
const TAG_LENGTH = 27;

function createReaderIds(serverKey: Uint8Array, reader: string): ReaderIds {
  const derived = hkdfSync('sha256', serverKey, '', `phds public ids 1\0${reader}`, 4 * KEY_BYTES);
  // As objects, because Node takes ten microseconds to use bytes as a key.
  const toKey = (number: number) => createSecretKey(Buffer.from(derived, number * KEY_BYTES, KEY_BYTES));
  const idKey = toKey(0);
  const tagKey = Buffer.from(derived, KEY_BYTES, KEY_BYTES).toString('hex');
  const sealing = { textKey: toKey(2), codeKey: toKey(3) };
  const cipher = createCipheriv(CIPHER, idKey, null).setAutoPadding(false);
  return {
    toPublicIds: (prefix, rows) => toPublicIds(cipher, prefix, rows),
    findRowId: (prefix, publicId) => {
      const digits = publicId.slice(prefix.length + 1);
      if (publicId !== `${prefix}_${digits}` || !/^[0-9a-f]{32}$/.test(digits)) return null;
      return toUuid(openDecipher(idKey).update(digits, 'hex', 'hex'));
    },
    encrypt: (blocks) => cipher.update(blocks),
    decrypt: (blocks) => openDecipher(idKey).update(blocks),
    toTag: (text) => {
      const keyed = typeof text === 'string' ? tagKey + text : Buffer.concat([Buffer.from(tagKey), text]);
      return hash('sha256', keyed, 'base64url').slice(0, TAG_LENGTH);
    },
    seal: (text, context) => seal(sealing, text, context),
    open: (sealed, context) => open(sealing, sealed, context),
  };
}

// A permutation of single blocks, which fits ids: an id is one block, no two rows have the same one, and a row must always get the
// same public id. The mode is stateless, so one cipher object serves every page of a reader.
const CIPHER = 'aes-256-ecb';

function openDecipher(key: KeyObject) {
  return createDecipheriv(CIPHER, key, null).setAutoPadding(false);
}

function toPublicIds(cipher: Cipheriv, prefix: IdPrefix, rows: readonly Row[]): string[] {
  const rowIds = rows.map(({ id }) => id).join('');
  const digits = cipher.update(rowIds.replaceAll('-', ''), 'hex', 'hex');
  return rows.map((_, index) => `${prefix}_${digits.slice(index * ID_DIGITS, (index + 1) * ID_DIGITS)}`);
}

interface SealingKeys {
  readonly textKey: KeyObject;
  readonly codeKey: KeyObject;
}

const CODE_BYTES = 16;
const TEXT_CIPHER = 'aes-256-ctr';

/**
 * The text, encrypted and authenticated together with a context, as base64url. The construction is that of RFC 5297 (SIV): the
 * authentication code of the text is the initial value of its encryption, so the same text gives the same result.
 */
function seal({ textKey, codeKey }: SealingKeys, text: string, context: string): string {
  const code = toCode(codeKey, text, context);
  const encrypted = createCipheriv(TEXT_CIPHER, textKey, code).update(text, 'utf8');
  return Buffer.concat([code, encrypted]).toString('base64url');
}

/** The text of `seal`; null for anything that was not sealed with these keys for this context. */
function open({ textKey, codeKey }: SealingKeys, sealed: string, context: string): string | null {
  const bytes = Buffer.from(sealed, 'base64url');
  if (bytes.length <= CODE_BYTES) return null;
  const code = bytes.subarray(0, CODE_BYTES);
  const text = createDecipheriv(TEXT_CIPHER, textKey, code)
    .update(bytes.subarray(CODE_BYTES))
    .toString('utf8');
  return timingSafeEqual(code, toCode(codeKey, text, context)) ? text : null;
}

function toCode(key: KeyObject, text: string, context: string): Buffer {
  return createHmac('sha256', key).update(`${context}\0${text}`).digest().subarray(0, CODE_BYTES);
}
