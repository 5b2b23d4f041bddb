import { describe, test } from '@jest/globals';

/** `describe` without its variants. */
export type Block = (title: string, body: () => void) => void;

/**
 * `describe` for tests that need a program. Without the program the tests are skipped and counted as skipped; in CI (`CI=true`) a
 * missing program is a failed test.
 */
export function describeWith(program: string, isThere: boolean): Block {
  if (isThere) return describe;
  if (process.env['CI'] !== 'true') return describe.skip;
  return (title) =>
    describe(title, () => {
      test(`${program} is installed`, () => {
        throw new Error(`There is no ${program} on this machine. Where CI=true no test may be skipped.`);
      });
    });
}
