import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Files of one test in a temporary directory. */
export interface FilesOfTest extends Disposable {
  readonly directory: string;
  /** Writes a file in the directory. Returns its path. */
  write(name: string, content: string | Uint8Array): string;
}

export function openFilesOfTest(): FilesOfTest {
  const directory = mkdtempSync(join(tmpdir(), 'phds-cli-'));
  return {
    directory,
    write(name, content) {
      const path = join(directory, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
      return path;
    },
    [Symbol.dispose]: () => rmSync(directory, { recursive: true }),
  };
}
