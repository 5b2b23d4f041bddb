import { Worker } from 'jest-worker';

/** A worker keeps the modules of every file that it ran. Above this heap it is replaced before its next file. */
const WORKER_HEAP = '280MB';

/**
 * Jest's runner without isolation of modules: each worker is a plain Node process that loads a module once for all the files that it
 * runs, as a service does. Jest's own runner loads every module again for each file, and transforms it, which costs more than the
 * tests. It differs from `jest-light-runner`, which has no time limit for a test, does not replace workers, and fakes timers
 * without options.
 */
// biome-ignore lint/style/noDefaultExport: Jest instantiates the default export
export default class PlainRunner {
  supportsEventEmitters = false;
  isSerial = false;
  #globalConfig;

  constructor(globalConfig) {
    this.#globalConfig = globalConfig;
  }

  async runTests(tests, watcher, onStart, onResult, onFailure) {
    const { maxWorkers, testNamePattern, testTimeout } = this.#globalConfig;
    const waiting = [...tests];
    const worker = this.#startWorkers(Math.min(maxWorkers, tests.length));
    const runNext = async () => {
      for (let test = waiting.shift(); test !== undefined; test = waiting.shift()) {
        if (watcher.isInterrupted()) return;
        await onStart(test);
        const { path, context } = test;
        const { rootDir, testTimeout: ownTimeout } = context.config;
        const limits = { testNamePattern, testTimeout: testTimeout ?? ownTimeout };
        await worker.runFile({ path, rootDir, ...limits }).then(
          // Of a file without tests, Jest would only say that it has none.
          (result) =>
            result.testResults.length === 0 && result.testExecError
              ? onFailure(test, result.testExecError)
              : onResult(test, result),
          (error) => onFailure(test, { message: error.message, stack: error.stack }),
        );
      }
    };
    try {
      await Promise.all(Array.from({ length: maxWorkers }, runNext));
    } finally {
      await worker.end();
    }
  }

  #startWorkers(numWorkers) {
    const worker = new Worker(new URL('run-file.mjs', import.meta.url), {
      numWorkers,
      exposedMethods: ['runFile'],
      idleMemoryLimit: WORKER_HEAP,
      maxRetries: 0,
      forkOptions: { stdio: 'inherit', execArgv: [] },
    });
    return worker;
  }
}
