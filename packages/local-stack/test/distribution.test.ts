import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DISTRIBUTED, LOCAL, type LocalTable, SHARD_COUNT } from '@phds/service-kit/postgres/distribution';
import { createTestDatabase, type TestDatabase } from '@phds/test-kit/databases';
import pg from 'pg';
import { repositoryRoot } from '../src/data-directory.ts';
import { type Constraint, listColumns, listConstraints, listPeculiarities, listTables } from './catalog.ts';
import { installStandIn, listDistributions } from './citus-stand-in.ts';

const SCHEMAS = {
  'health-data': ['health_data'],
  consent: ['consent', 'consent_audit'],
  authorization: ['authorization'],
};
const { schema, column, tables } = DISTRIBUTED;
const distributed = tables.map((table) => `${schema}.${table}`);

const databases: TestDatabase[] = [];
const found: string[] = [];
const constraints: Constraint[] = [];
let client: pg.Client;

beforeAll(async () => {
  for (const [service, schemas] of Object.entries(SCHEMAS)) {
    const database = await createTestDatabase(service);
    databases.push(database);
    const admin = new pg.Client({ connectionString: database.adminUrl });
    await admin.connect();
    found.push(...(await listTables(admin, schemas)));
    constraints.push(...(await listConstraints(admin, schemas)));
    if (service === 'health-data') client = admin;
    else await admin.end();
  }
});
afterAll(async () => {
  await client.end();
  for (const database of databases) await database[Symbol.asyncDispose]();
});

/** Constraints of the table that Citus could not check on one server if rows were distributed by this column. */
function inTheWay(
  table: string,
  by: string,
  isColocated: (target: string) => boolean,
  all: readonly Constraint[] = constraints,
): string[] {
  const isChecked = ({ kind, columns, target, targetColumns }: Constraint) => {
    const place = columns.indexOf(by);
    if (kind !== 'foreign key') return place !== -1;
    return target !== null && isColocated(target) && place !== -1 && targetColumns?.[place] === by;
  };
  return all
    .filter((one) => one.table === table && !isChecked(one))
    .map(({ name }) => name)
    .sort();
}

const localTables: [string, LocalTable][] = Object.entries(LOCAL).flatMap(([of, ones]) =>
  Object.entries(ones).map(([table, how]): [string, LocalTable] => [`${of}.${table}`, how]),
);

test('every table of the services is declared once: as distributed by user, or as staying on one server', () => {
  const declared = [...distributed, ...localTables.map(([table]) => table)].sort();
  expect(declared).toEqual([...found].sort());
});

describe('distributed tables', () => {
  test('each has a key, and every key and foreign key of a distributed table holds the user', () => {
    for (const table of distributed) {
      expect(constraints.filter((one) => one.table === table && one.kind === 'key')).not.toEqual([]);
      expect([table, inTheWay(table, column, (target) => distributed.includes(target))]).toEqual([table, []]);
    }
  });

  test('the user has the same type and collation in all of them, is required, and never computed', async () => {
    const columns = await listColumns(client, schema, column);
    const same = { type: 'text', collation: 'C', isRequired: true, isComputed: false };
    expect(columns).toEqual([...distributed].sort().map((table) => ({ table, ...same })));
  });

  test('their schema has no triggers, sequences, functions or partitions, which would need a treatment of their own', async () => {
    expect(await listPeculiarities(client, schema)).toEqual([]);
  });
});

test('the check notices a new table, a key without the user, and a foreign key that does not hold the user on both sides', async () => {
  await client.query(`
    BEGIN;
    CREATE TABLE health_data.planted (user_id text COLLATE "C" NOT NULL, id uuid, PRIMARY KEY (user_id, id), UNIQUE (id));
    ALTER TABLE health_data.planted ADD CONSTRAINT other_user FOREIGN KEY (user_id, id) REFERENCES health_data.planted (user_id, id);
    ALTER TABLE health_data.planted ADD CONSTRAINT no_user FOREIGN KEY (id) REFERENCES health_data.planted (id)`);
  try {
    expect(await listTables(client, [schema])).toContain('health_data.planted');
    const planted = await listConstraints(client, [schema]);
    const isColocated = (target: string) => target === 'health_data.planted';
    expect(inTheWay('health_data.planted', column, isColocated, planted)).toEqual([
      'no_user',
      'planted_id_key',
    ]);
  } finally {
    await client.query('ROLLBACK');
  }
});

test('a table that could be distributed later names exactly the constraints that lack its column', () => {
  const later = localTables.flatMap(([table, { later }]) =>
    later === undefined ? [] : [{ table, ...later }],
  );
  expect(later.length).toBeGreaterThan(0);
  const actual = later.map((one) => ({ ...one, inTheWay: inTheWay(one.table, one.column, () => false) }));
  expect(actual).toEqual(later);
});

describe('deploy/citus/health_data.sql', () => {
  const run = async () =>
    client.query(await readFile(join(repositoryRoot, 'deploy/citus/health_data.sql'), 'utf8'));

  test('distributes every declared table by user, in shards of one number, and only what is not distributed yet when it is repeated', async () => {
    await installStandIn(client);
    await run();
    const [first, ...others] = distributed;
    const calls = [
      { table: first, column, colocateWith: 'none', shards: SHARD_COUNT },
      ...others.map((table) => ({ table, column, colocateWith: first, shards: null })),
    ];
    expect(await listDistributions(client)).toEqual(calls);
    await client.query("DELETE FROM pg_dist_partition WHERE logicalrelid = 'health_data.import'::regclass");
    await run();
    expect(await listDistributions(client)).toHaveLength(calls.length);
  });
});
