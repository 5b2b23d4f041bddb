/** Runs one step of the start and reports its duration. */
export type RunStep = <T>(name: string, work: () => Promise<T>) => Promise<T>;

/** Creates steps that print one line each with their duration. No step begins once `signal` is aborted. */
export function createSteps(say: (line: string) => void, signal: AbortSignal | undefined): RunStep {
  return async (name, work) => {
    signal?.throwIfAborted();
    const started = performance.now();
    // A running step is not abandoned, because its result may have to be stopped later.
    const result = await work();
    say(`  ${name.padEnd(44)} ${((performance.now() - started) / 1000).toFixed(1).padStart(5)} s`);
    return result;
  };
}
