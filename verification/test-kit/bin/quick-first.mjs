import { relative } from 'node:path';
import Sequencer from '@jest/test-sequencer';

/** Tests that start the whole service, and often a browser. */
const WHOLE_SERVICE = /^verification\/(e2e|guarantees)\//;

/**
 * Files that are slow for their size. Without durations of earlier runs, Jest starts the largest files first and these at the end,
 * when the other workers have nothing left to do.
 */
const SLOW_FOR_THEIR_SIZE = /^verification\/e2e\/test\/revocation/;

/**
 * Runs the tests of single packages and services first, so that most mistakes show within minutes; in each group the slowest files
 * come first.
 */
// biome-ignore lint/style/noDefaultExport: Jest instantiates the default export
export default class QuickFirst extends Sequencer {
  async sort(tests) {
    const sorted = await super.sort(tests);
    const rank = ({ context, path, duration }) => {
      const file = relative(context.config.rootDir, path);
      if (!WHOLE_SERVICE.test(file)) return 0;
      return !duration && SLOW_FOR_THEIR_SIZE.test(file) ? 1 : 2;
    };
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}
