// Encodes parameter arrays in Postgres's binary format (array_recv). `pg` would write each as text, element by element with
// escapes, which the server would parse; a Buffer is sent as binary. `pick` takes the element from an item, so that columns of a
// batch need no intermediate arrays.

const UUID = 2950;
const TEXT = 25;
const BYTEA = 17;
const INT4 = 23;
const INT8 = 20;

const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;

/** A `uuid[]` of 16 bytes each; null becomes NULL. */
export function uuidArray<Item>(items: readonly Item[], pick: (item: Item) => Uint8Array | null): Buffer {
  return bytesArray(UUID, items, pick);
}

/** A `bytea[]`. */
export function byteaArray<Item>(items: readonly Item[], pick: (item: Item) => Uint8Array): Buffer {
  return bytesArray(BYTEA, items, pick);
}

/** A `text[]`; null becomes NULL. */
export function textArray<Item>(items: readonly Item[], pick: (item: Item) => string | null): Buffer {
  let room = HEADER_BYTES;
  // UTF-8 takes at most three bytes for each UTF-16 unit.
  for (const item of items) room += LENGTH_BYTES + (pick(item)?.length ?? 0) * 3;
  const array = startArray(TEXT, items.length, room);
  let offset = HEADER_BYTES;
  for (const item of items) {
    const text = pick(item);
    const length = text === null || text === '' ? 0 : array.write(text, offset + LENGTH_BYTES);
    array.writeInt32BE(text === null ? -1 : length, offset);
    offset += LENGTH_BYTES + length;
  }
  return array.subarray(0, offset);
}

/** An `int4[]`. */
export function int4Array<Item>(items: readonly Item[], pick: (item: Item) => number): Buffer {
  const array = startArray(INT4, items.length, HEADER_BYTES + items.length * (LENGTH_BYTES + 4));
  let offset = HEADER_BYTES;
  for (const item of items) {
    offset = array.writeInt32BE(4, offset);
    offset = array.writeInt32BE(pick(item), offset);
  }
  return array;
}

/** An `int8[]` of non-negative numbers. */
export function int8Array<Item>(items: readonly Item[], pick: (item: Item) => number): Buffer {
  const array = startArray(INT8, items.length, HEADER_BYTES + items.length * (LENGTH_BYTES + 8));
  let offset = HEADER_BYTES;
  for (const item of items) {
    const number = pick(item);
    offset = array.writeInt32BE(8, offset);
    offset = array.writeInt32BE(Math.floor(number / 2 ** 32), offset);
    offset = array.writeUInt32BE(number % 2 ** 32, offset);
  }
  return array;
}

function bytesArray<Item>(
  elementType: number,
  items: readonly Item[],
  pick: (item: Item) => Uint8Array | null,
): Buffer {
  let size = HEADER_BYTES;
  for (const item of items) size += LENGTH_BYTES + (pick(item)?.length ?? 0);
  const array = startArray(elementType, items.length, size);
  let offset = HEADER_BYTES;
  for (const item of items) {
    const bytes = pick(item);
    offset = array.writeInt32BE(bytes?.length ?? -1, offset);
    if (bytes === null) continue;
    array.set(bytes, offset);
    offset += bytes.length;
  }
  return array;
}

/** A one-dimensional array with room for its elements. Postgres detects NULLs itself. */
function startArray(elementType: number, length: number, size: number): Buffer {
  const array = Buffer.allocUnsafe(size);
  array.writeInt32BE(1, 0);
  array.writeInt32BE(0, 4);
  array.writeInt32BE(elementType, 8);
  array.writeInt32BE(length, 12);
  array.writeInt32BE(1, 16);
  return array;
}
