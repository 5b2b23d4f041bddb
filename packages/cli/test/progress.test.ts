import { describe, expect, test } from '@jest/globals';
import { createProgress } from '../src/progress.ts';

const MB = 1024 * 1024;

function drawn(isTTY: boolean, stepMs: number, steps: readonly number[]): string[] {
  const written: string[] = [];
  let now = 0;
  const stream = { isTTY, write: (text: string) => void written.push(text) };
  const progress = createProgress(stream, 'Importing', () => now);
  for (const done of steps) {
    progress.update(done * MB, 10 * MB);
    now += stepMs;
  }
  progress.finish();
  return written;
}

describe('progress', () => {
  test('on a terminal redraws one line, at most ten times a second, and clears it', () => {
    expect(drawn(true, 60, [1, 2, 3, 4])).toEqual([
      '\r\u001b[KImporting 10 % of 10.0 MB',
      '\r\u001b[KImporting 30 % of 10.0 MB',
      '\r\u001b[K',
    ]);
  });

  test('elsewhere prints a line every five seconds', () => {
    expect(drawn(false, 2_500, [1, 2, 3, 4, 5, 6])).toEqual([
      'Importing 30 % of 10.0 MB\n',
      'Importing 50 % of 10.0 MB\n',
    ]);
  });

  test('elsewhere prints nothing for short steps', () => {
    expect(drawn(false, 100, [1, 5, 10])).toEqual([]);
  });
});
