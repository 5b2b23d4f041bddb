/** The load in a separate process, so that nothing delays it. Receives commands over IPC and replies to each. */
import { Load } from './load.ts';
import type { LoadCommand, LoadReply } from './load-process.ts';

let load: Load | null = null;

async function run(command: LoadCommand): Promise<LoadReply['result']> {
  if (command.kind === 'prepare') {
    load = new Load(command.options);
    await load.prepare();
    return undefined;
  }
  if (load === null) throw new Error('prepare comes first');
  switch (command.kind) {
    case 'begin':
      load.begin();
      return undefined;
    case 'readTally':
      return load.tally;
    case 'storm':
      await load.storm(command.tokens);
      return undefined;
    case 'end':
      return load.end();
  }
}

process.on('message', ({ id, command }: { id: number; command: LoadCommand }) => {
  run(command).then(
    (result) => process.send?.({ id, result } satisfies LoadReply),
    (error: unknown) => process.send?.({ id, error: String((error as Error).stack) } satisfies LoadReply),
  );
});
// Ctrl-C reaches all processes at once; the parent ends this one after cleaning up.
process.on('SIGINT', () => undefined);
process.on('disconnect', () => process.exit(0));
