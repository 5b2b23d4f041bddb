import { ingestReadings } from '@phds/running-system/ingestion';
import { expectStatus } from '@phds/running-system/partner-app';
import { type RunningStack, startRunningStack } from '@phds/running-system/running-stack';
import { type ConnectedPerson, connectPerson, HEART_PATH } from '@phds/running-system/working-system';
import { CITUS_VARIABLE } from '@phds/test-kit/citus';

const PEOPLE = 16;
const CALLERS = 8;
const BATCH = 500;
const FIRST = Date.parse('2024-01-01T00:00:00Z');
const ROUNDS = 3;
const ROUND_MS = 8_000;

/** A stack with people who have readings. */
interface Side {
  readonly stack: RunningStack;
  readonly people: readonly ConnectedPerson[];
  /** Batches written so far; each begins behind the last. */
  batches: number;
}

type Act = (side: Side, turn: number) => Promise<unknown>;

async function importBatch(side: Side, userId: string): Promise<void> {
  const batch = side.batches;
  side.batches += 1;
  const readings = Array.from({ length: BATCH }, (_, index) => {
    const start = new Date(FIRST + (batch * BATCH + index) * 60_000).toISOString();
    return { type: 'Heart Rate', start, end: start, value: 60 + (index % 40), source: 'synthetic' };
  });
  await ingestReadings(side.stack, userId, readings);
}

const read =
  (path: string): Act =>
  async ({ people }, turn) => {
    const { app, tokens } = people[turn % PEOPLE] as ConnectedPerson;
    expectStatus(200, await app.read(tokens.accessToken, path));
  };

const ACTS: Readonly<Record<string, Act>> = {
  'newest pages': read(HEART_PATH),
  summaries: read('/api/v1/aggregations?type=heart-rate'),
  'imports of 500 readings': (side, turn) => importBatch(side, `importing-${turn % CALLERS}`),
};

async function prepare(nodes: string | null): Promise<Side> {
  if (nodes === null) delete process.env[CITUS_VARIABLE];
  else process.env[CITUS_VARIABLE] = nodes;
  const stack = await startRunningStack();
  const people: ConnectedPerson[] = [];
  const side = { stack, people, batches: 0 };
  for (let index = 0; index < PEOPLE; index += 1) {
    people.push(await connectPerson(stack, `person-${index}`));
    await importBatch(side, `person-${index}`);
  }
  return side;
}

/** Acts for a round, several at once. Returns how many there were in a second. */
async function measure(side: Side, act: Act): Promise<number> {
  const start = performance.now();
  let turn = 0;
  const callers = Array.from({ length: CALLERS }, async () => {
    while (performance.now() - start < ROUND_MS) {
      const own = turn;
      turn += 1;
      await act(side, own);
    }
  });
  await Promise.all(callers);
  return turn / ((performance.now() - start) / 1000);
}

/** Measures a stack on one server and one on a cluster in turn, on the same machine. A row for each kind of work. */
export async function measureRatios(nodes: string): Promise<Record<string, object>> {
  const plain = await prepare(null);
  await using _plain = plain.stack;
  const cluster = await prepare(nodes);
  await using _cluster = cluster.stack;
  const rows: Record<string, object> = {};
  for (const [name, act] of Object.entries(ACTS)) {
    const rates: [number, number][] = [];
    for (let round = 0; round <= ROUNDS; round += 1)
      rates.push([await measure(plain, act), await measure(cluster, act)]);
    // The first round warms up.
    const ratios = rates
      .slice(1)
      .map(([one, several]) => several / one)
      .toSorted((a, b) => a - b);
    const [one, several] = rates.at(-1) as [number, number];
    rows[name] = {
      'one server, per second': Number(one.toFixed(1)),
      'cluster, per second': Number(several.toFixed(1)),
      'ratio (median)': Number(ratios[ROUNDS >> 1]?.toFixed(2)),
      'ratio (range)': `${ratios[0]?.toFixed(2)} to ${ratios.at(-1)?.toFixed(2)}`,
    };
  }
  return rows;
}
