import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** The root directory of this repository. */
export const repositoryRoot = path.resolve(import.meta.dirname, '../../..');

/** Directories whose content is written by tools or by people from outside: no house rule applies. */
const foreign = /(^|\/)(node_modules|\.data|coverage|gen|generated)\//;

/**
 * The files of the project: tracked by git, or new and not ignored. Paths are relative to the root, with `/`.
 * Outside a git checkout (an image, an archive) it throws, because then nobody can say what belongs to the project.
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

/** The text of a file of `listFiles`, or null when it was deleted since git last looked. */
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
