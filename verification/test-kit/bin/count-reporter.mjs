import { writeFileSync } from 'node:fs';

/** Counts a run. run-tests.mjs prints the counts as the very last line; under plain `jest` they are printed here. */
// biome-ignore lint/style/noDefaultExport: Jest instantiates the default export
export default class CountReporter {
  onRunComplete(_contexts, results) {
    const counts = {
      passed: results.numPassedTests,
      // A file that cannot even be loaded has no tests to count, and is a failure all the same.
      failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
      skipped: results.numPendingTests + results.numTodoTests,
    };
    const file = process.env.PHDS_TEST_COUNTS_FILE;
    if (file) writeFileSync(file, JSON.stringify(counts));
    else console.log(`jest: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  }
}
