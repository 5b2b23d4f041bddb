import type { Entry } from 'yauzl';
import { UnusableFile } from '../ingest/unusable-file.ts';

/** Bytes of a local file header without name and extra field (APPNOTE 4.3.7). */
const LOCAL_HEADER_BYTES = 30;

/**
 * Which bytes of an archive its entries take. Entries that share bytes make an archive grow with the square of its size when it
 * is unpacked; no packing program writes them. An extent here lacks the name and the extra field of the local header, whose
 * lengths the central directory does not tell, so it is a little short. Still the packed sizes of all entries together are at most
 * the size of the archive, and a limit on growth relates to bytes that are there.
 */
export class EntryExtents {
  readonly #extents: { readonly start: number; readonly end: number }[] = [];

  add({ relativeOffsetOfLocalHeader: start, compressedSize }: Entry): void {
    this.#extents.push({ start, end: start + LOCAL_HEADER_BYTES + compressedSize });
  }

  /** Throws UnusableFile when two entries share bytes, or one ends behind the archive. */
  check(archiveBytes: number): void {
    let end = 0;
    for (const extent of this.#extents.toSorted((one, other) => one.start - other.start)) {
      if (extent.start < end) throw new UnusableFile('The zip archive holds files that overlap');
      end = extent.end;
    }
    if (end > archiveBytes) throw new UnusableFile('The zip archive is damaged or cut off');
  }
}
