/** The load in a separate process, so that nothing delays it. Receives calls over IPC and replies to each. */
import { Load, type LoadOptions } from './load.ts';
import type { LoadCall, LoadReply } from './load-process.ts';

/** Set by `prepare`, which comes first. */
let load: Load;

const CALLS: Readonly<Record<LoadCall['name'], (argument: never) => unknown>> = {
  prepare: (options: LoadOptions) => {
    load = new Load(options);
    return load.prepare();
  },
  begin: () => load.begin(),
  readTally: () => load.tally,
  storm: (tokens: number) => load.storm(tokens),
  end: () => load.end(),
};

process.on('message', async ({ id, name, argument }: LoadCall) => {
  const reply = (outcome: Omit<LoadReply, 'id'>) => process.send?.({ id, ...outcome } satisfies LoadReply);
  try {
    reply({ result: await CALLS[name](argument as never) });
  } catch (error) {
    reply({ error: String((error as Error).stack) });
  }
});
// Ctrl-C reaches all processes at once; the parent ends this one after cleaning up.
process.on('SIGINT', () => undefined);
process.on('disconnect', () => process.exit(0));
