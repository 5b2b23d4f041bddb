/** Stops waiting when the signal is aborted. The work itself goes on, because other callers may wait for it too. */
export function untilAborted<Result>(
  work: Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    const settled = () => signal.removeEventListener('abort', stop);
    work.finally(settled).then(resolve, reject);
  });
}
