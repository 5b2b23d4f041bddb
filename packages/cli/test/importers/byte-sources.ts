import type { ByteSource } from '../../src/importers/tables/lines.ts';

/** A text or bytes as a source with chunks of this size. */
export function sourceOf(content: string | Uint8Array, chunkBytes = 64 * 1024): ByteSource {
  const bytes = Buffer.from(content as Uint8Array);
  return {
    name: 'table.txt',
    size: bytes.length,
    async *read() {
      for (let start = 0; start < bytes.length; start += chunkBytes) {
        yield bytes.subarray(start, start + chunkBytes);
      }
    },
  };
}

/** A source that repeats the same chunk, so that a test needs little memory. */
export function repeatedSource(piece: Buffer, times: number, tail = ''): ByteSource {
  return {
    name: 'table.txt',
    size: piece.length * times + tail.length,
    async *read() {
      for (let count = 0; count < times; count += 1) yield piece;
      if (tail !== '') yield Buffer.from(tail);
    },
  };
}
