import { hash } from 'node:crypto';

/** The content of an access record. Ids are the 16 bytes of their UUIDs. */
export interface AccessRecord {
  /** UUID version 7 with the same millisecond as `at`. */
  readonly id: Uint8Array;
  /** Unix milliseconds. */
  readonly at: number;
  /** Pseudonym of the person. A separate table links it to the user id until the person is erased. */
  readonly userRef: Uint8Array;
  readonly clientId: string;
  readonly grantId: string;
  readonly scope: string;
  readonly endpoint: string;
  readonly from: string;
  readonly to: string;
  readonly page: number;
  readonly recordCount: number;
  readonly requestId: string;
  /** Id of the record whose response was refused; set in the refusal's record only. */
  readonly refersTo: Uint8Array | null;
  /** Why the response was refused; empty without `refersTo`. */
  readonly verdict: string;
}

/** Bytes of a digest. */
export const DIGEST_BYTES = 32;

const VERSION = 1;
const LONGEST_FIELD = 0xffff;
const LENGTH_BYTES = 2;

// One shared buffer is safe because encoding is synchronous.
let scratch = Buffer.allocUnsafe(16 * 1024);

/**
 * The canonical encoding of a record: one byte for the version (1), then each field of AccessRecord, in the order of its
 * declaration, as two bytes of length and its bytes. Texts are UTF-8, `at` is a signed integer of 8 bytes, `page` and
 * `recordCount` are unsigned ones of 4, all big endian; what is absent has length 0. The answer is valid until the next call.
 * Throws RangeError for a field of more than 65,535 bytes.
 */
export function encodeAccessRecord(record: AccessRecord): Buffer {
  scratch[0] = VERSION;
  let end = writeBytes(1, record.id);
  end = writeInteger(end, record.at, 8);
  end = writeBytes(end, record.userRef);
  end = writeText(end, record.clientId);
  end = writeText(end, record.grantId);
  end = writeText(end, record.scope);
  end = writeText(end, record.endpoint);
  end = writeText(end, record.from);
  end = writeText(end, record.to);
  end = writeInteger(end, record.page, 4);
  end = writeInteger(end, record.recordCount, 4);
  end = writeText(end, record.requestId);
  end = writeBytes(end, record.refersTo);
  end = writeText(end, record.verdict);
  return scratch.subarray(0, end);
}

/** SHA-256 of the canonical encoding. */
export function digestAccessRecord(record: AccessRecord): Buffer {
  return hash('sha256', encodeAccessRecord(record), 'buffer');
}

function writeText(offset: number, text: string): number {
  // UTF-8 takes at most three bytes for each UTF-16 unit.
  reserve(offset + LENGTH_BYTES + text.length * 3);
  const length = text === '' ? 0 : scratch.write(text, offset + LENGTH_BYTES, 'utf8');
  return finishField(offset, length);
}

function writeBytes(offset: number, bytes: Uint8Array | null): number {
  if (bytes === null) return finishField(offset, 0);
  reserve(offset + LENGTH_BYTES + bytes.length);
  scratch.set(bytes, offset + LENGTH_BYTES);
  return finishField(offset, bytes.length);
}

function writeInteger(offset: number, value: number, length: 4 | 8): number {
  reserve(offset + LENGTH_BYTES + length);
  if (length === 4) scratch.writeUInt32BE(value, offset + LENGTH_BYTES);
  else scratch.writeBigInt64BE(BigInt(value), offset + LENGTH_BYTES);
  return finishField(offset, length);
}

function finishField(offset: number, length: number): number {
  if (length > LONGEST_FIELD) throw new RangeError('a field of a record has at most 65,535 bytes');
  scratch[offset] = length >>> 8;
  scratch[offset + 1] = length & 0xff;
  return offset + LENGTH_BYTES + length;
}

/** Reserves space for the next field and for the lengths of following empty fields. */
function reserve(bytes: number): void {
  if (bytes + 64 <= scratch.length) return;
  const larger = Buffer.allocUnsafe(2 * bytes + 64);
  scratch.copy(larger);
  scratch = larger;
}

/** A stored batch of a writer's chain. */
export interface ChainedBatch {
  /** UUID of the writer. One process writes one chain. */
  readonly writer: string;
  /** Position in the writer's chain, from 0. */
  readonly seq: number;
  /** Unix milliseconds; equal for all its records. */
  readonly at: number;
  readonly recordCount: number;
  /** The concatenated digests of its records, in order. */
  readonly digests: Uint8Array;
  /** Hash of the previous batch; for the first, the writer's initial hash. */
  readonly previousHash: Uint8Array;
  readonly hash: Uint8Array;
}

const BEGINNING = Buffer.from('phds access record chain 1\n');

/** The initial hash of a chain: SHA-256 of a fixed text and the writer's 16 bytes, so that chains cannot be exchanged. */
export function hashBeginning(writer: string): Buffer {
  return hash('sha256', Buffer.concat([BEGINNING, parseUuid(writer)]), 'buffer');
}

/** SHA-256 of the previous hash, the position (8 bytes, big endian) and the digests. */
export function hashBatch(previousHash: Uint8Array, seq: number, digests: Uint8Array): Buffer {
  const position = Buffer.alloc(8);
  position.writeBigInt64BE(BigInt(seq));
  return hash('sha256', Buffer.concat([previousHash, position, digests]), 'buffer');
}

/** The 16 bytes of a UUID. Throws for an invalid one. */
export function parseUuid(text: string): Buffer {
  const bytes = Buffer.from(text.replaceAll('-', ''), 'hex');
  if (bytes.length !== 16) throw new TypeError(`not a UUID: ${JSON.stringify(text)}`);
  return bytes;
}

/** The text form of 16 bytes (RFC 9562 section 4). */
export function toUuidText(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** The Unix milliseconds in a UUID version 7. */
export function timeOfUuid(bytes: Uint8Array): number {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).readUIntBE(0, 6);
}
