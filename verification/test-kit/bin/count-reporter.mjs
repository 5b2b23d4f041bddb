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

/** The slowest files, with the time of their tests and of the rest: modules, set-up and clean-up. */
function describeSlowest(files) {
  const lines = files
    .map(({ testFilePath, perfStats: { start, end }, testResults }) => ({
      path: relative(process.cwd(), testFilePath),
      ms: end - start,
      testsMs: testResults.reduce((sum, { duration }) => sum + (duration ?? 0), 0),
    }))
    .toSorted((one, other) => other.ms - one.ms)
    .slice(0, Number(process.env.PHDS_TEST_FILES_LISTED ?? LISTED))
    .map(({ path, ms, testsMs }) => `${[ms, ms - testsMs, testsMs].map(toSeconds).join(' ')}  ${path}`);
  return ['The slowest files, in seconds:', '   total   set-up    tests', ...lines].join('\n');
}

function toSeconds(ms) {
  return (ms / 1000).toFixed(1).padStart(8);
}
