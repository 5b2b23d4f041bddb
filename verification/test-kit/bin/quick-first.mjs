import { relative } from 'node:path';
import Sequencer from '@jest/test-sequencer';

/** Tests that start the whole service, and often a browser. */
const WHOLE_SERVICE = /^verification\/(e2e|faults)\//;

/**
 * Runs the tests of single packages and services first, so that most mistakes show within minutes; in each group the slowest files
 * come first.
 */
// biome-ignore lint/style/noDefaultExport: Jest instantiates the default export
export default class QuickFirst extends Sequencer {
  async sort(tests) {
    const sorted = await super.sort(tests);
    const isWhole = ({ context, path }) => WHOLE_SERVICE.test(relative(context.config.rootDir, path));
    return [...sorted.filter((test) => !isWhole(test)), ...sorted.filter(isWhole)];
  }
}
