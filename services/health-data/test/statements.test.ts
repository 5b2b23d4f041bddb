import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { readStatement } from '@phds/service-kit/postgres/sql';
import { capture } from '@phds/test-kit/plans';
import { explainGeneric, listIndexes, listNamedIndexes, readSqlFiles } from '@phds/test-kit/sql-files';
import { POOL_SETTINGS } from '../src/database.ts';
import { createStores, observe, readAll, USER, writeAll } from './every-store.ts';
import { findReach, type Reach } from './shards.ts';
import { shareStorePool } from './store-pool.ts';

const FILES = readSqlFiles(new URL('../src/sql/', import.meta.url), readStatement);

const store = await shareStorePool('statements', 4);

async function explainAlone(text: string) {
  const client = await store.pool.connect();
  try {
    return await explainGeneric(client, text);
  } finally {
    client.release();
  }
}

test.each(FILES)(
  '%s can be explained as it stands, by the indexes that its comment names',
  async (_, text) => {
    expect(text).toMatch(/^-- Indexes: +\S/m);
    expect(listIndexes(await explainAlone(text))).toEqual(listNamedIndexes(text));
  },
);

// Whether the statements can run where rows are distributed by person (docs/operations/deploy.md#health-data-on-several-servers). A new statement that
// reads rows of several people, or writes in several parts one of which is an insert, fails here until the page names it.

/** Statement files that address rows of several people, or find rows by their place in the table. */
const BEYOND_ONE_PERSON = [
  'count-running-imports.sql',
  'find-latest-readings.sql',
  'find-range-end.sql',
  'mark-changes.sql',
  'measure-outbox.sql',
  'newest-spans.sql',
  'prune-changes-of-range.sql',
  'prune-changes.sql',
  'readings-newest.sql',
  'take-changes-alone.sql',
  'take-changes.sql',
];

/** Statement files that Citus would not hand to one server as a whole. */
const SPLIT = ['delete-readings.sql', 'delete-window.sql', 'put-readings.sql', 'refresh-quarters.sql'];

/** The same for the statements that are composed for a kind of records. */
const COMPOSED_SPLIT = /^WITH written AS \( INSERT INTO \w+ \(user_id, id, source, /;

const reachOf = (text: string): Promise<Reach> => findReach(store.pool, store.database.schema, text);

test('every statement file reads and writes the rows of one person, found by the user in a parameter, except those that are named here', async () => {
  const reaches = await Promise.all(FILES.map(async ([file, text]) => ({ file, ...(await reachOf(text)) })));
  expect(reaches.filter(({ beyond }) => beyond.length > 0).map(({ file }) => file)).toEqual(
    BEYOND_ONE_PERSON,
  );
});

test('every statement file can be handed to the server of the person as a whole, except those that are named here', async () => {
  const reaches = await Promise.all(FILES.map(async ([file, text]) => ({ file, ...(await reachOf(text)) })));
  expect(reaches.filter(({ isSplit }) => isSplit).map(({ file }) => file)).toEqual(SPLIT);
});

test('the check notices a statement that reads rows of another person, finds rows without the person, or inserts them for another', async () => {
  const [join, own, insert] = await Promise.all(
    [
      'SELECT r.value FROM reading r JOIN profile p ON p.user_id <> r.user_id WHERE r.user_id = $1',
      'SELECT r.value FROM reading r JOIN profile p ON p.user_id = r.user_id WHERE r.user_id = $1',
      'INSERT INTO profile (user_id, time_zone) SELECT $2, time_zone FROM profile WHERE user_id = $1',
    ].map(reachOf),
  );
  expect(join?.beyond).toEqual(['profile: Index Only Scan']);
  expect(own?.beyond).toEqual([]);
  expect(insert?.beyond).toHaveLength(1);
});

test('every other statement of the stores does so too, except those that are named here', async () => {
  const { stores, uncalled } = observe(createStores(store.pool));
  const asked = await capture(async () => {
    await writeAll(stores);
    await readAll(stores);
    await stores.eraser.erase(USER);
  });
  // All methods of all stores.
  expect([...uncalled]).toEqual([]);
  const files = new Set(FILES.flatMap(([, text]) => [text, text.replaceAll('category = ', 'type = ')]));
  const inline = [...new Set(asked.map(({ text }) => text))].filter((text) => !files.has(text));
  const reaches = await Promise.all(
    inline.map(async (text) => ({ text: toLine(text), ...(await reachOf(text)) })),
  );
  expect(reaches.filter((reach) => reach.beyond.length > 0)).toEqual([]);
  const split = reaches.filter(({ isSplit }) => isSplit).map(({ text }) => text);
  expect(split.filter((text) => !COMPOSED_SPLIT.test(text))).toEqual([]);
  expect(split).not.toEqual([]);
  expect(reaches.length).toBeGreaterThan(40);
});

test('deploy/citus/planner.sql gives the role of the service the planner settings of its connections, but for plans that are kept', async () => {
  const sql = await readFile(new URL('../../../deploy/citus/planner.sql', import.meta.url), 'utf8');
  const settings = [...sql.matchAll(/^ALTER ROLE phds_health_data SET (\w+) = '(\w+)';$/gm)];
  const { plan_cache_mode: _, ...others } = POOL_SETTINGS;
  expect(Object.fromEntries(settings.map(([, name, value]) => [name, value]))).toEqual(others);
});

function toLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
