import { ingestReadings, type ReadingJson } from '@phds/running-system/ingestion';
import { expectStatus, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { type RunningStack, startRunningStack } from '@phds/running-system/running-stack';

const USER = 'subject-hidden';
const SCOPE = 'read:health-data:glucose';
const PATH = '/api/v1/health-data/glucose?updatedSince=';
const ROUNDS = 20;
const MANY = 25_000;
const AT_ONCE = 5_000;
const DATA_FROM = '2026-03-10';
const DATA_FROM_MS = Date.parse(`${DATA_FROM}T00:00:00Z`);

/** What an app with one category since a day can tell of a person's other readings by its cursors, entity tags and pages. */
export async function benchHidden(): Promise<string> {
  await using stack = await startRunningStack();
  const app = await registerApp(stack.gateway, await signIn(stack, 'developer'));
  const tokens = await app.connect(await signIn(stack, USER), [SCOPE], { dataFrom: DATA_FROM });
  await ingestReadings(stack, USER, [glucose(1)]);
  const read = async (since: string) => {
    const startedAt = performance.now();
    const { body, headers } = expectStatus(200, await app.read(tokens.accessToken, PATH + since));
    return { ...body, etag: headers.get('etag'), ms: performance.now() - startedAt };
  };
  const rows: string[] = [];
  for (const [kind, hidden] of [
    [
      'of another category',
      (round: number) => ({ ...glucose(round), type: 'Heart Rate', unit: '/min', value: 60 }),
    ],
    ['before `dataFrom`', (round: number) => glucose(-round - 1)],
  ] as const) {
    const { sync } = await read('1970-01-01T00:00:00Z');
    let before = await read(sync.cursor);
    const told = { cursor: 0, etag: 0 };
    for (let round = 0; round < ROUNDS; round += 1) {
      const isChanged = round % 2 === 0;
      if (isChanged) await ingestReadings(stack, USER, [hidden(round)]);
      const after = await read(sync.cursor);
      if ((after.sync.cursor !== before.sync.cursor) === isChanged) told.cursor += 1;
      if ((after.etag !== before.etag) === isChanged) told.etag += 1;
      before = after;
    }
    rows.push(`| ${kind} | ${told.cursor} | ${told.etag} |`);
  }
  const { sync } = await read('1970-01-01T00:00:00Z');
  await storeMany(stack);
  const pages = [await read(sync.cursor)];
  while (pages.at(-1)?.sync.hasMore) pages.push(await read(pages.at(-1)?.sync.cursor));
  return [
    '',
    `| hidden reading stored in every other of ${ROUNDS} rounds | told right by the cursor | by the entity tag |`,
    '|---|---|---|',
    ...rows,
    '',
    `after ${MANY} hidden readings: ${pages.length} pages without a change, the slowest in ${Math.max(...pages.map(({ ms }) => ms)).toFixed(0)} ms`,
  ].join('\n');
}

/** A reading some minutes after the first day that the app sees; with a negative number before it. */
function glucose(minutes: number): ReadingJson {
  const start = new Date(DATA_FROM_MS + minutes * 60_000).toISOString();
  return { type: 'Glucose', value: 100, unit: 'mg/dL', start };
}

async function storeMany(stack: RunningStack): Promise<void> {
  for (let from = 0; from < MANY; from += AT_ONCE) {
    const readings = Array.from({ length: AT_ONCE }, (_, index) => glucose(-1_000 - from - index));
    await ingestReadings(stack, USER, readings);
  }
}
