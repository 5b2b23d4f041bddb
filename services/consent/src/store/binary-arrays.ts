// Arrays of parameters in the binary format of Postgres (array_recv): `pg` would write each as text, element by element with
// escapes, and the server would read that again. A Buffer it sends as binary.

const UUID = 2950;
const TEXT = 25;
const BYTEA = 17;
const INT4 = 23;
const INT8 = 20;

const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;

/** A `uuid[]` of 16 bytes each; null is NULL. */
export function uuidArray(items: readonly (Uint8Array | null)[]): Buffer {
  return bytesArray(UUID, items);
}

/** A `bytea[]`. */
export function byteaArray(items: readonly Uint8Array[]): Buffer {
  return bytesArray(BYTEA, items);
}

/** A `text[]`; null is NULL. */
export function textArray(items: readonly (string | null)[]): Buffer {
  let size = HEADER_BYTES;
  for (const item of items) size += LENGTH_BYTES + (item === null ? 0 : Buffer.byteLength(item));
  const array = startArray(TEXT, items.length, size);
  let offset = HEADER_BYTES;
  for (const item of items) {
    const length = item === null || item === '' ? 0 : array.write(item, offset + LENGTH_BYTES);
    array.writeInt32BE(item === null ? -1 : length, offset);
    offset += LENGTH_BYTES + length;
  }
  return array;
}

/** An `int4[]`. */
export function int4Array(items: readonly number[]): Buffer {
  const array = startArray(INT4, items.length, HEADER_BYTES + items.length * (LENGTH_BYTES + 4));
  let offset = HEADER_BYTES;
  for (const item of items) {
    offset = array.writeInt32BE(4, offset);
    offset = array.writeInt32BE(item, offset);
  }
  return array;
}

/** An `int8[]`. */
export function int8Array(items: readonly number[]): Buffer {
  const array = startArray(INT8, items.length, HEADER_BYTES + items.length * (LENGTH_BYTES + 8));
  let offset = HEADER_BYTES;
  for (const item of items) {
    offset = array.writeInt32BE(8, offset);
    offset = array.writeBigInt64BE(BigInt(item), offset);
  }
  return array;
}

function bytesArray(elementType: number, items: readonly (Uint8Array | null)[]): Buffer {
  let size = HEADER_BYTES;
  for (const item of items) size += LENGTH_BYTES + (item?.length ?? 0);
  const array = startArray(elementType, items.length, size);
  let offset = HEADER_BYTES;
  for (const item of items) {
    offset = array.writeInt32BE(item?.length ?? -1, offset);
    if (item === null) continue;
    array.set(item, offset);
    offset += item.length;
  }
  return array;
}

/** One dimension from 1, with room for its elements. Postgres looks for NULLs by itself. */
function startArray(elementType: number, length: number, size: number): Buffer {
  const array = Buffer.allocUnsafe(size);
  array.writeInt32BE(1, 0);
  array.writeInt32BE(0, 4);
  array.writeInt32BE(elementType, 8);
  array.writeInt32BE(length, 12);
  array.writeInt32BE(1, 16);
  return array;
}
