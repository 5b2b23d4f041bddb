/** Runs one test file after the other in a worker of the test run; see plain-runner.mjs. */
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { jestExpect } from '@jest/expect';
import { createEmptyTestResult } from '@jest/test-result';
import { addEventHandler, getState, resetState, run } from 'jest-circus';
import { formatExecError, formatResultsErrors } from 'jest-message-util';
import { loadWeb } from './load-web.mjs';

const globals = new URL('test-globals.mjs', import.meta.url).href;
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '@jest/globals' ? { url: globals, shortCircuit: true } : next(specifier, context),
  load: loadWeb,
});

/** Rejections that nothing has handled yet. */
const rejections = new Map();
const { setImmediate } = globalThis;

process.on('unhandledRejection', (error, promise) => rejections.set(promise, error));
process.on('rejectionHandled', (promise) => rejections.delete(promise));
process.on('uncaughtException', (error) => void rejections.set({}, error));

/** Ends the test that runs, or the file, with what nothing caught. A rejection may be handled until the work that is due is done. */
async function takeUncaught() {
  await new Promise((resolve) => setImmediate(resolve));
  const errors = [...rejections.values()];
  rejections.clear();
  return errors;
}

/** What jest-circus leaves to its adapter: errors that `expect` kept while a test ran, and errors that nothing caught. */
async function collectErrors({ name, test }) {
  if (name === 'test_start') jestExpect.setState({ suppressedErrors: [], currentTestName: test.name });
  if (name !== 'test_done') return;
  test.errors = test.errors.flatMap(showSuppressed);
  test.errors.push(...jestExpect.getState().suppressedErrors, ...(await takeUncaught()));
  test.errors.push(...jestExpect.extractExpectedAssertionsErrors().map(({ error }) => error));
}

/** Both errors of a test that failed and whose disposal failed too. */
function showSuppressed(entry) {
  const [error, asyncError] = Array.isArray(entry) ? entry : [entry];
  if (!(error instanceof SuppressedError)) return [entry];
  return [error.suppressed, error.error].flatMap((each) => showSuppressed([each, asyncError]));
}

addEventHandler(collectErrors);

/** Runs a file. Returns Jest's TestResult, in which what failed outside of the tests is the error of the file. */
export async function runFile({ path, rootDir, testNamePattern, testTimeout }) {
  resetState();
  const state = getState();
  // Without a limit of its own, a configuration has that of jest-circus.
  if (testTimeout !== undefined) state.testTimeout = testTimeout;
  state.testNamePattern = testNamePattern ? new RegExp(testNamePattern, 'i') : null;
  jestExpect.setState({ testPath: path });
  const start = Date.now();
  const errors = [];
  let tests = [];
  try {
    await import(pathToFileURL(path).href);
    const { testResults, unhandledErrorsDetailed } = await run();
    tests = testResults;
    errors.push(...unhandledErrorsDetailed);
  } catch (error) {
    errors.push(error);
  }
  try {
    await globalThis.disposeOfShared?.();
  } catch (error) {
    errors.push(error);
  }
  errors.push(...(await takeUncaught()));
  return toTestResult({ tests: tests.map(toAssertionResult), errors, path, rootDir, start });
}

function toTestResult({ tests, errors, path, rootDir, start }) {
  const count = (status) => tests.filter((test) => test.status === status).length;
  const config = { rootDir, testMatch: [] };
  const options = { noStackTrace: false };
  const outside = errors.map((error) => formatExecError(error, config, options, path));
  const empty = createEmptyTestResult();
  const end = Date.now();
  return {
    ...empty,
    testFilePath: path,
    testResults: tests,
    numPassingTests: count('passed'),
    numFailingTests: count('failed'),
    numPendingTests: count('pending'),
    numTodoTests: count('todo'),
    perfStats: { ...empty.perfStats, start, end, runtime: end - start },
    failureMessage: [formatResultsErrors(tests, config, options, path), ...outside]
      .filter(Boolean)
      .join('\n'),
    ...(errors.length === 0 ? {} : { testExecError: { message: '', stack: outside.join('\n') } }),
  };
}

function toAssertionResult({
  testPath,
  status,
  errors,
  errorsDetailed,
  duration,
  numPassingAsserts,
  startedAt,
}) {
  // The first part is the name of the root block.
  const [title, ...ancestors] = testPath.slice(1).toReversed();
  const ancestorTitles = ancestors.reverse();
  return {
    title,
    ancestorTitles,
    fullName: [...ancestorTitles, title].join(' '),
    status: toStatus(status, errors),
    duration,
    startAt: startedAt,
    failureMessages: [...errors],
    failureDetails: [...errorsDetailed],
    numPassingAsserts,
    location: null,
    invocations: 1,
    retryReasons: [],
  };
}

function toStatus(status, errors) {
  if (status === 'skip') return 'pending';
  if (status === 'todo') return 'todo';
  return errors.length > 0 ? 'failed' : 'passed';
}
