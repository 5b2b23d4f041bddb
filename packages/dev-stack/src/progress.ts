/** Runs one step of the start and tells how long it took. */
export type RunStep = <T>(name: string, work: () => Promise<T>) => Promise<T>;

/** Steps that print a line each: what, and how long it took. A step does not begin once `signal` says stop. */
export function createSteps(say: (line: string) => void, signal: AbortSignal | undefined): RunStep {
  return async (name, work) => {
    signal?.throwIfAborted();
    const started = performance.now();
    // Not given up in the middle: the result may be something that has to be stopped.
    const result = await work();
    say(`  ${name.padEnd(44)} ${((performance.now() - started) / 1000).toFixed(1).padStart(5)} s`);
    return result;
  };
}
