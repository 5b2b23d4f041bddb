import type { ProxiedStack } from '@phds/running-system/proxied-stack';
import { type ConnectedPerson, connectPerson, HEART_PATH } from '@phds/running-system/working-system';
import { addCitusWorker } from '@phds/test-kit/citus';
import { eventually } from '@phds/test-kit/conditions';
import { openClient } from '@phds/test-kit/open-client';
import type { Fault, Site } from '../faults/fault.ts';
import { COORDINATOR, controlCluster, NEWCOMER, WORKERS } from './cluster.ts';

const PEOPLE = 12;
const REBALANCED = { timeoutMs: 300_000, intervalMs: 1_000 } as const;

/** The server on which each shard is, by port. */
async function countShards(database: string): Promise<ReadonlyMap<number, number>> {
  await using client = await openClient(database);
  const { rows } = await client.query(`
    SELECT nodeport, count(*)::int AS shards FROM citus_shards
    WHERE table_name = 'health_data.reading'::regclass GROUP BY nodeport ORDER BY nodeport`);
  return new Map(rows.map(({ nodeport, shards }) => [nodeport, shards]));
}

function adminUrlOf({ databases }: Pick<ProxiedStack, 'databases'>): string {
  const { pathname } = new URL(databases['health-data'].url);
  return new URL(pathname, COORDINATOR).href;
}

/** Reads each person once and counts the statuses. Throws if an answer with status 200 does not have the one reading. */
async function readEach(people: readonly ConnectedPerson[]): Promise<Map<number, number>> {
  const statuses = new Map<number, number>();
  for (const { app, tokens } of people) {
    const { status, body, text } = await app.read(tokens.accessToken, HEART_PATH);
    if ((status === 200) !== (body?.data?.length === 1)) throw new Error(`wrong data: ${status} ${text}`);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  return statuses;
}

const toText = (counts: ReadonlyMap<number, number>) =>
  [...counts].map(([name, count]) => `${name}: ${count}`).join(', ');

async function connectPeople(site: Site): Promise<ConnectedPerson[]> {
  const names = Array.from({ length: PEOPLE }, (_, index) => `placed-${index + 1}`);
  const people: ConnectedPerson[] = [];
  for (const name of names) people.push(await connectPerson(site.stack, name));
  return people;
}

/** What can happen to a cluster of which health-data is a client. */
export const CITUS_FAULTS: readonly Fault[] = [
  {
    name: 'worker-crashed',
    what: 'a worker ends as in a crash, and starts again at the end',
    play: async (site) => {
      const people = await connectPeople(site);
      site.say(`people by worker, of ${PEOPLE}: ${toText(await readEach(people))}`);
      await controlCluster('crash', WORKERS[0]);
      try {
        const down = await readEach(people);
        site.say(`${PEOPLE} people while the worker is away: ${toText(down)}`);
        if (!down.has(200) || down.size < 2)
          throw new Error('the people are all on one server: nothing proved');
        if ([...down.keys()].some((status) => ![200, 503].includes(status)))
          throw new Error(`refused by other than 503: ${toText(down)}`);
        await site.sleep(site.milliseconds);
      } finally {
        await controlCluster('resume', WORKERS[0]);
      }
      await eventually(async () => (await readEach(people)).get(200) === PEOPLE, { timeoutMs: 30_000 });
      site.say('everybody is answered again');
    },
  },
  {
    name: 'worker-joins',
    what: 'a third worker joins, and takes over its part of the rows',
    play: async (site) => {
      const people = await connectPeople(site);
      const database = adminUrlOf(site.stack);
      await addCitusWorker(COORDINATOR, NEWCOMER.url, new URL(database).pathname.slice(1));
      site.say(`shards of reading by port: ${toText(await countShards(database))}`);
      await using client = await openClient(database);
      await client.query("SELECT citus_rebalance_start(shard_transfer_mode => 'force_logical')");
      const read = new Map<number, number>();
      await eventually(async () => {
        for (const [status, count] of await readEach(people))
          read.set(status, (read.get(status) ?? 0) + count);
        const { rows } = await client.query('SELECT state FROM citus_rebalance_status()');
        if (rows[0]?.state === 'failed') throw new Error('the rows could not be moved');
        return rows[0]?.state === 'finished';
      }, REBALANCED);
      const shards = await countShards(database);
      site.say(
        `moved: shards of reading by port: ${toText(shards)}; reads of people meanwhile: ${toText(read)}`,
      );
      if (!shards.get(NEWCOMER.port)) throw new Error('the third worker has no shard');
      await site.sleep(site.milliseconds / 4);
    },
  },
];
