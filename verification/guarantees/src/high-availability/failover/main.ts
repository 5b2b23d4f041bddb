import { startRunningStack } from '@phds/running-system/running-stack';
import { Argument, Command } from 'commander';
import { parseCount } from '../../command.ts';
import { type Proof, proveOnCluster } from '../proof.ts';
import { FAULTS, proveNothingLost, proveSuspension, toLines, watchReplayLag } from './revocations.ts';

const LAGGING = 'lagging-standby';
const NAMES = [...FAULTS.map(({ name }) => name), LAGGING];
const LIMIT_MS = 20 * 60_000;

const command = new Command('pnpm prove:failover')
  .description('Fails a cluster of databases over under load: docs/operations/postgres.md.')
  .addArgument(new Argument('[names...]', 'what happens to the cluster').choices(NAMES).default(NAMES))
  .option(
    '--revocations <n>',
    'how many during leader-killed; the others have fewer, but 20',
    parseCount,
    1_000,
  );

async function prove({ cluster, resources, signal, say }: Proof): Promise<boolean> {
  const names: readonly string[] = command.processedArgs[0];
  const { revocations } = command.opts<{ revocations: number }>();
  const stack = resources.use(await startRunningStack(cluster.services));
  say('the services are running');
  const lag = resources.use(watchReplayLag(cluster));
  let isKept = true;
  for (const fault of FAULTS.filter(({ name }) => names.includes(name))) {
    say(`${fault.name}: ${fault.what}`);
    const verdict = await proveNothingLost(fault, { cluster, stack, revocations, say, signal });
    for (const line of toLines(verdict)) console.log(line);
    isKept &&= verdict.wrong.length === 0;
  }
  say(lag.summarize());
  if (names.includes(LAGGING)) {
    say(`${LAGGING}: a standby that lacks acknowledged revocations is promoted`);
    const wrong = await proveSuspension(cluster, stack, say);
    console.log(`${LAGGING}: ${wrong.length === 0 ? 'kept' : 'BROKEN'}`);
    for (const each of wrong) console.log(`  WRONG: ${each}`);
    isKept &&= wrong.length === 0;
  }
  return isKept;
}

await proveOnCluster(command, LIMIT_MS, prove);
