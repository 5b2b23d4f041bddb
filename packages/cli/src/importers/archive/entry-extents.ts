import type { Entry } from 'yauzl';
import { UnusableFile } from '../ingest/unusable-file.ts';

/** Size of a local file header without name and extra field (APPNOTE 4.3.7). */
const LOCAL_HEADER_BYTES = 30;

/**
 * Records which bytes of an archive its entries occupy. If entries share bytes, the unpacked size can grow quadratically; no
 * packing program creates such archives. An extent omits the name and extra field of the local header, whose lengths are not in the
 * central directory, so it is slightly too short. Even so, the packed sizes of all entries sum to at most the archive size, so that
 * the limit on growth refers to existing bytes.
 */
export class EntryExtents {
  readonly #extents: { readonly start: number; readonly end: number }[] = [];

  add({ relativeOffsetOfLocalHeader: start, compressedSize }: Entry): void {
    this.#extents.push({ start, end: start + LOCAL_HEADER_BYTES + compressedSize });
  }

  /** Throws UnusableFile if two entries share bytes, or one ends after the end of the archive. */
  check(archiveBytes: number): void {
    let end = 0;
    for (const extent of this.#extents.toSorted((one, other) => one.start - other.start)) {
      if (extent.start < end) throw new UnusableFile('The zip archive contains overlapping files');
      end = extent.end;
    }
    if (end > archiveBytes) throw new UnusableFile('The zip archive is damaged or cut off');
  }
}
