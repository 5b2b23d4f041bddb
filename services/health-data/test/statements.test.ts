import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { create } from '@bufbuild/protobuf';
import { expect, test } from '@jest/globals';
import { HealthRecordSchema } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import { readStatement } from '@phds/service-kit/postgres/sql';
import { FakeClock } from '@phds/test-kit/fake-clock';
import { capture } from '@phds/test-kit/plans';
import { explainGeneric, listIndexes, listNamedIndexes, readSqlFiles } from '@phds/test-kit/sql-files';
import { POOL_SETTINGS } from '../src/database.ts';
import { createUserEraser } from '../src/erasure.ts';
import { createRecordWriter, putHealthRecords } from '../src/ingest-records.ts';
import type { HealthRecordKind } from '../src/record-kinds.ts';
import { createHealthRecords } from '../src/records.ts';
import { recordsOf } from './one-of-each.ts';
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

const reachOf = (text: string): Promise<Reach> => findReach(store.pool, store.database.schema, text);
const REACHES = await Promise.all(FILES.map(async ([file, text]) => ({ file, ...(await reachOf(text)) })));

test('every statement file reads and writes the rows of one person, found by the user in a parameter, except those that are named here', () => {
  expect(REACHES.filter(({ beyond }) => beyond.length > 0).map(({ file }) => file)).toEqual(
    BEYOND_ONE_PERSON,
  );
});

test('every statement file can be handed to the server of the person as a whole, except those that are named here', () => {
  expect(REACHES.filter(({ isSplit }) => isSplit).map(({ file }) => file)).toEqual(SPLIT);
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

test('only statements of records and of erasures are composed', async () => {
  const source = new URL('../src/', import.meta.url);
  const files = (await readdir(source, { recursive: true })).filter((file) => file.endsWith('.ts'));
  const texts = await Promise.all(files.map((file) => readFile(new URL(file, source), 'utf8')));
  const composing = files.filter((_, at) =>
    /\b(SELECT|INSERT INTO|UPDATE \S+ SET|DELETE FROM)\b/.test(texts[at]!),
  );
  expect(composing.sort()).toEqual(['erasure.ts', 'ingest-records.ts', 'records.ts']);
});

test('every composed statement is about one person, and is handed to one server as a whole, except those that store records', async () => {
  const asked = await capture(async () => {
    await useRecords();
    await createUserEraser(store.pool).erase('ada');
  });
  const files = new Set(FILES.map(([, text]) => text));
  const composed = [...new Set(asked.map(({ text }) => text))].filter((text) => !files.has(text));
  expect(composed.length).toBeGreaterThan(60);
  const reaches = await Promise.all(
    composed.map(async (text) => ({ text: toLine(text), ...(await reachOf(text)) })),
  );
  expect(reaches.filter(({ beyond }) => beyond.length > 0)).toEqual([]);
  const split = reaches.filter(({ isSplit }) => isSplit).map(({ text }) => text);
  expect(
    split.filter((text) => !/^WITH written AS \( INSERT INTO \w+ \(user_id, id, source, /.test(text)),
  ).toEqual([]);
  expect(split).toHaveLength(KINDS.length);
});

const KINDS = recordsOf('a').map(({ case: kind }) => kind as HealthRecordKind);

/** Writes, reads and deletes records of each kind, in every way. */
async function useRecords(): Promise<void> {
  const [userId, ids, at] = ['ada', [randomUUID()], new Date()];
  const parts = { healthRecordWriter: createRecordWriter(store.pool), clock: new FakeClock() };
  const records = recordsOf('a').map((record) =>
    create(HealthRecordSchema, { key: 'a', source: 'ehr', record }),
  );
  expect(await putHealthRecords(parts, { userId, records })).toMatchObject({ inserted: KINDS.length });
  const reader = createHealthRecords(store.pool);
  const when = { startFrom: 0, startBefore: 1, endFrom: 0, endBefore: 1 };
  const page = { userId, limit: 10, offset: 0 };
  const range = { from: at, to: at };
  for (const kind of KINDS) {
    await reader.list(kind, { ...page, range, coverFrom: at, medicationId: randomUUID() });
    const statuses = kind === 'adherenceEntry' ? ['taken'] : null;
    const dated = { userId, ids, since: at, coverFrom: at, statuses, when };
    await reader.listNewest(kind, { ...dated, limit: 10 });
    await reader.count(kind, dated);
    await reader.listHeld(kind, { userId, before: null, limit: 10 });
    await parts.healthRecordWriter.delete(userId, [{ kind, id: randomUUID() }]);
  }
  await reader.listDoses({ userId, since: at, limit: 10 });
}

test('deploy/citus/planner.sql gives the role of the service the planner settings of its connections, but for plans that are kept', async () => {
  const sql = await readFile(new URL('../../../deploy/citus/planner.sql', import.meta.url), 'utf8');
  const settings = [...sql.matchAll(/^ALTER ROLE phds_health_data SET (\w+) = '(\w+)';$/gm)];
  const { plan_cache_mode: _, ...others } = POOL_SETTINGS;
  expect(Object.fromEntries(settings.map(([, name, value]) => [name, value]))).toEqual(others);
});

function toLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
