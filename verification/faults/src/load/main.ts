/** The load, in a process of its own, so that it waits for nobody else. Takes orders over IPC and answers each. */
import { Load } from './load.ts';
import type { Answer, Order } from './orders.ts';

let load: Load | null = null;

async function obey(order: Order): Promise<Answer['result']> {
  if (order.kind === 'prepare') {
    load = new Load(order.options);
    await load.prepare();
    return undefined;
  }
  if (load === null) throw new Error('prepare comes first');
  switch (order.kind) {
    case 'begin':
      load.begin();
      return undefined;
    case 'look':
      return load.tally;
    case 'storm':
      await load.storm(order.tokens);
      return undefined;
    case 'end':
      return load.end();
  }
}

process.on('message', ({ id, order }: { id: number; order: Order }) => {
  obey(order).then(
    (result) => process.send?.({ id, result } satisfies Answer),
    (error: unknown) => process.send?.({ id, error: String((error as Error).stack) } satisfies Answer),
  );
});
// Ctrl-C reaches everybody at once; whoever gave the orders ends this process when it has cleaned up.
process.on('SIGINT', () => undefined);
process.on('disconnect', () => process.exit(0));
