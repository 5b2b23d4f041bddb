/** Fails a cluster of databases over under load: docs/operations/postgres.md. Exits with 1 if a promise was broken. */

import { parseArgs } from 'node:util';
import { startRunningStack } from '@phds/running-system/running-stack';
import { Cluster } from '../cluster.ts';
import { Programs } from '../programs.ts';
import { type Proof, runProof } from '../proof.ts';
import { FAULTS, proveNothingLost, proveSuspension, toLines, watchReplayLag } from './revocations.ts';

const LAGGING = 'lagging-standby';
const NAMES = [...FAULTS.map(({ name }) => name), LAGGING];
const LIMIT_MS = 20 * 60_000;

const USAGE = `usage: pnpm prove:failover [--revocations <n>] [names...]
  names: ${NAMES.join(', ')} (default: all)
  --revocations: how many during leader-killed; the others have fewer (default: 1000)`;

async function prove(names: readonly string[], revocations: number, proof: Proof): Promise<boolean> {
  const { resources, signal, say } = proof;
  const cluster = await Cluster.start(await Programs.find(), resources);
  say('three database nodes are running');
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

function parse(): { readonly names: readonly string[]; readonly revocations: number } | null {
  const options = { revocations: { type: 'string', default: '1000' } } as const;
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    const revocations = Number(values.revocations);
    const known = positionals.every((name) => NAMES.includes(name));
    if (!known || !(revocations >= 20)) return null;
    return { names: positionals.length === 0 ? NAMES : positionals, revocations };
  } catch {
    return null;
  }
}

const wanted = parse();
if (wanted === null) {
  console.error(USAGE);
  process.exitCode = 2;
} else {
  await runProof(LIMIT_MS, (proof) => prove(wanted.names, wanted.revocations, proof));
}
