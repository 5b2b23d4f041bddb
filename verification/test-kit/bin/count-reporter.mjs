import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';

const LISTED = 10;

/**
 * Counts the tests of a run and lists the slowest files. run-tests.mjs prints the counts as the last line; plain `jest` prints them
 * here.
 */
// biome-ignore lint/style/noDefaultExport: Jest instantiates the default export
export default class CountReporter {
  onRunComplete(_contexts, results) {
    if (results.testResults.length > LISTED) console.log(describeSlowest(results.testResults));
    const counts = {
      passed: results.numPassedTests,
      // A file that fails to load has no tests but counts as a failure.
      failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
      skipped: results.numPendingTests + results.numTodoTests,
    };
    const file = process.env.PHDS_TEST_COUNTS_FILE;
    if (file) writeFileSync(file, JSON.stringify(counts));
    else console.log(`jest: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  }
}

function describeSlowest(files) {
  const lines = files
    .map(({ testFilePath, perfStats: { start, end } }) => ({
      path: relative(process.cwd(), testFilePath),
      ms: end - start,
    }))
    .toSorted((one, other) => other.ms - one.ms)
    .slice(0, LISTED)
    .map(({ path, ms }) => `${(ms / 1000).toFixed(1).padStart(8)} s  ${path}`);
  return ['The slowest files:', ...lines].join('\n');
}
