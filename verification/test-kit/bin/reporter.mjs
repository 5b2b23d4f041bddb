import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';

const LISTED = 10;
/** Runs of at most this many files report each file. */
const FEW_FILES = 12;
const PROGRESS_MS = 20_000;

/**
 * Reports the failures of each file as it ends, how far a long run is, and the slowest files. Leaves the counts and the names of failed
 * tests for run-tests.mjs, which prints them last; plain `jest` prints them here.
 */
// biome-ignore lint/style/noDefaultExport: Jest instantiates the default export
export default class Reporter {
  #startedAt = Date.now();
  #saidAt = Date.now();

  onTestResult(_test, result, { numTotalTestSuites, numPassedTestSuites, numPassedTests, ...run }) {
    const { testFilePath, failureMessage, perfStats } = result;
    const isFailed = Boolean(failureMessage || result.testExecError);
    if (isFailed) console.error(`FAIL ${toName(testFilePath)}\n${failureMessage ?? ''}`);
    else if (numTotalTestSuites <= FEW_FILES)
      console.log(`ok   ${toName(testFilePath)} (${result.numPassingTests} tests, ${perfStats.runtime} ms)`);
    if (Date.now() - this.#saidAt < PROGRESS_MS) return;
    this.#saidAt = Date.now();
    const files = numPassedTestSuites + run.numFailedTestSuites + run.numRuntimeErrorTestSuites;
    const failed = run.numFailedTests === 0 ? '' : `, ${run.numFailedTests} failed`;
    const seconds = Math.round((Date.now() - this.#startedAt) / 1000);
    console.log(
      `${files} of ${numTotalTestSuites} files, ${numPassedTests} tests passed${failed} (${seconds} s)`,
    );
  }

  onRunComplete(_contexts, results) {
    if (results.testResults.length > LISTED) console.log(describeSlowest(results.testResults));
    const outcome = {
      passed: results.numPassedTests,
      // A file that fails to load has no tests but counts as a failure.
      failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
      skipped: results.numPendingTests + results.numTodoTests,
      failures: results.testResults.flatMap(listFailures),
    };
    const file = process.env.PHDS_TEST_OUTCOME_FILE;
    if (file) writeFileSync(file, JSON.stringify(outcome));
    else console.log(`jest: ${outcome.passed} passed, ${outcome.failed} failed, ${outcome.skipped} skipped`);
  }
}

function toName(path) {
  return relative(process.cwd(), path);
}

function listFailures({ testFilePath, testResults, testExecError }) {
  const titles = testResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName);
  if (testExecError)
    titles.push(`the file ${testResults.length === 0 ? 'does not load' : 'fails outside of its tests'}`);
  return titles.map((title) => `${toName(testFilePath)}: ${title}`);
}

/** The slowest files, with the time of their tests and of the rest: modules, set-up and clean-up. */
function describeSlowest(files) {
  const lines = files
    .map(({ testFilePath, perfStats: { start, end }, testResults }) => ({
      path: toName(testFilePath),
      ms: end - start,
      testsMs: testResults.reduce((sum, { duration }) => sum + (duration ?? 0), 0),
    }))
    .toSorted((one, other) => other.ms - one.ms)
    .slice(0, LISTED)
    .map(({ path, ms, testsMs }) => `${[ms, ms - testsMs, testsMs].map(toSeconds).join(' ')}  ${path}`);
  return ['The slowest files, in seconds:', '   total   set-up    tests', ...lines].join('\n');
}

function toSeconds(ms) {
  return (ms / 1000).toFixed(1).padStart(8);
}
