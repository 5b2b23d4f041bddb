import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** The root directory of this repository. */
export const repositoryRoot = path.resolve(import.meta.dirname, '../../..');

/** Directories with generated or third-party content, which house rules do not apply to. */
const foreign = /(^|\/)(node_modules|\.data|coverage|gen|generated)\//;

/**
 * The files of the project: tracked by git, or new and not ignored. Paths are relative to the root, with `/`. Throws outside a git
 * checkout (an image, an archive), where the set of files is unknown.
 */
export function listFiles(): string[] {
  const output = execFileSync(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate'],
    {
      cwd: repositoryRoot,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    },
  );
  return output.split('\0').filter((file) => file !== '' && !foreign.test(file));
}

/** The text of a file of `listFiles`; null when it has been deleted since. */
export function findText(file: string): string | null {
  try {
    return readFileSync(path.join(repositoryRoot, file), 'utf8');
  } catch {
    return null;
  }
}

/** One line of one file. */
export interface Line {
  readonly file: string;
  /** Counted from 1. */
  readonly number: number;
  readonly text: string;
}

/** Every line of `files` that matches `pattern`, as `file:number: text`. */
export function findLines(files: readonly string[], pattern: RegExp): string[] {
  return files.flatMap((file) =>
    linesOf(file)
      .filter((line) => pattern.test(line.text))
      .map(describeLine),
  );
}

function linesOf(file: string): Line[] {
  const text = findText(file) ?? '';
  return text.split('\n').map((line, index) => ({ file, number: index + 1, text: line }));
}

function describeLine({ file, number, text }: Line): string {
  return `${file}:${number}: ${text.trim()}`;
}
