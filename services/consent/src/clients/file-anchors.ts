import { open } from 'node:fs/promises';
import type { AnchorStore } from '../app/access-ports.ts';

/** A file of JSON lines that is only appended to. A line is on the disk when the call returns. */
export function createFileAnchors(path: string): AnchorStore {
  return {
    async write(anchor) {
      await using file = await open(path, 'a', 0o644);
      // Begins a line, because a full disk or a crash may have left half of one. Readers skip empty lines.
      await file.appendFile(`\n${JSON.stringify(anchor)}\n`);
      await file.sync();
    },
  };
}
