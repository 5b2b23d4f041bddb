import { describe, expect, test } from '@jest/globals';
import { createProgress } from '../src/progress.ts';

const MB = 1024 * 1024;

function drawn(isTTY: boolean, steps: readonly number[]): string[] {
  const written: string[] = [];
  let now = 0;
  const stream = { isTTY, write: (text: string) => void written.push(text) };
  const progress = createProgress(stream, 'Importing', () => now);
  for (const done of steps) {
    progress.update(done, 10 * MB);
    now += 60;
  }
  progress.finish();
  return written;
}

describe('progress', () => {
  test('on a terminal redraws one line, at most ten times a second, and clears it', () => {
    expect(drawn(true, [1 * MB, 2 * MB, 3 * MB, 4 * MB])).toEqual([
      '\r\u001b[KImporting 10 % of 10.0 MB',
      '\r\u001b[KImporting 30 % of 10.0 MB',
      '\r\u001b[K',
    ]);
  });

  test('elsewhere is a plain line for each quarter before the end', () => {
    expect(drawn(false, [1 * MB, 3 * MB, 4 * MB, 8 * MB, 10 * MB])).toEqual([
      'Importing 30 % of 10.0 MB\n',
      'Importing 80 % of 10.0 MB\n',
    ]);
  });
});
