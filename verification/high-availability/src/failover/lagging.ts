import { expectStatus } from '@phds/running-system/partner-app';
import { send } from '@phds/running-system/request';
import type { RunningStack } from '@phds/running-system/running-stack';
import { eventually } from '@phds/test-kit/conditions';
import type { Cluster } from '../cluster.ts';
import { connectPeople } from './access.ts';
import { toText } from './acknowledged.ts';
import { confirmDatabases, readAll, readSuspension } from './after.ts';

const REVOCATIONS = 20;
const KEPT = 20;

/**
 * Replicates asynchronously, against deploy/postgres/patroni.yml, and promotes a standby that lacks acknowledged revocations. Checks
 * that everything older is suspended until an operator confirms. Returns what is wrong.
 */
export async function proveSuspension(
  cluster: Cluster,
  stack: RunningStack,
  say: (text: string) => void,
): Promise<string[]> {
  const consents = await connectPeople(stack, 'lagging', REVOCATIONS + KEPT);
  await replicateAsynchronously(cluster);
  const leader = await cluster.leader();
  const standbys = await cluster.standbys();
  for (const standby of standbys) await standby.stopPatroni();
  say('replication is asynchronous, and both standbys are down');
  const leaving = consents.accesses.slice(KEPT);
  for (const { session, tokens } of leaving) {
    const url = `${stack.gateway}/partner/consent/grants/${tokens.grantId}`;
    expectStatus(200, await send(url, { method: 'DELETE', bearer: session }));
  }
  await leader.kill();
  say(`${REVOCATIONS} revocations were acknowledged by ${leader.name} alone, which is killed now`);
  for (const standby of standbys) await standby.start();
  say(`${(await cluster.leader(leader)).name} leads and lacks them`);
  await cluster.untilReachable();

  const suspended = await readAll(stack, consents, consents.accesses);
  const status = await readSuspension(stack);
  say(
    `before a confirmation: reads ${toText(suspended)}; ${status.consent.suspendedGrants} grants are suspended`,
  );
  await confirmDatabases(stack);
  const kept = await readAll(stack, consents, consents.accesses.slice(0, KEPT));
  const lost = await readAll(stack, consents, leaving);
  say(`after it: reads of kept consents ${toText(kept)}; of those with a lost revocation ${toText(lost)}`);

  const reads = (people: number) => people * stack.gatewayUrls.length;
  return [
    suspended.get(401) !== reads(KEPT + REVOCATIONS) && `reads before a confirmation: ${toText(suspended)}`,
    status.consent.latest?.kind !== 'detected' && 'the lost revocations were not detected',
    kept.get(200) !== reads(KEPT) && `reads of kept consents after the confirmation: ${toText(kept)}`,
    lost.get(200) !== reads(REVOCATIONS) && 'the promoted standby has the revocations: nothing was proved',
  ].filter((each) => each !== false);
}

async function replicateAsynchronously(cluster: Cluster): Promise<void> {
  const settings = {
    synchronous_mode: 'off',
    synchronous_mode_strict: 'false',
    maximum_lag_on_failover: String(2 ** 30),
  };
  const words = Object.entries(settings).flatMap(([name, value]) => ['-s', `${name}=${value}`]);
  await cluster.patronictl(await cluster.leader(), ['edit-config', 'phds', '--force', ...words]);
  await eventually(
    async () =>
      (await cluster.query('SHOW synchronous_standby_names')).rows[0].synchronous_standby_names === '',
    { intervalMs: 200 },
  );
}
