import { expect, test } from '@jest/globals';
import { DATABASE_SERVICES, ensureKeyFiles, readDatabasePasswords } from '@phds/service-kit/keys/key-files';
import { ensureServiceDatabase } from '@phds/service-kit/postgres/database-roles';
import { toDatabaseUrl } from '@phds/service-kit/postgres/postgres-names';
import { openFilesOfTest } from '@phds/test-kit/files-of-test';
import { openClient } from '@phds/test-kit/open-client';
import { shared } from '@phds/test-kit/shared';
import pg from 'pg';
import { prepareDatabases } from '../src/databases.ts';
import { startThrowawayPostgres } from '../src/servers/embedded-postgres.ts';

/** Something in a schema that rights are given on. */
interface SchemaObject {
  readonly schema: string;
  readonly name: string;
  readonly kind: 'table' | 'view' | 'sequence' | 'function';
  /** Columns of a table. */
  readonly columns: readonly string[];
  /** Types of a function's arguments. */
  readonly types: readonly string[];
}

const LIST_OBJECTS = `
  SELECT n.nspname AS schema, c.relname AS name, '{}'::text[] AS types,
    CASE c.relkind WHEN 'S' THEN 'sequence' WHEN 'v' THEN 'view' WHEN 'm' THEN 'view' ELSE 'table' END AS kind,
    ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped) AS columns
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname !~ '^pg_|^information_schema$' AND c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f')
  UNION ALL
  SELECT n.nspname, p.proname, ARRAY(SELECT format_type(t, NULL) FROM unnest(p.proargtypes) AS t), 'function', '{}'
  FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
  WHERE n.nspname !~ '^pg_|^information_schema$'
  ORDER BY 1, 2`;

/** Everything in the schemas of a database, except PostgreSQL's own. */
async function listObjects(admin: pg.Client): Promise<SchemaObject[]> {
  return (await admin.query<SchemaObject>(LIST_OBJECTS)).rows;
}

/**
 * Statements that need a right, by its letter: S, I, U, D and T for the statement with that initial, N for nextval, E for execute, O
 * for what only the owner may. The right is there if one of the statements is not refused.
 */
type Attempts = Readonly<Record<string, readonly string[]>>;

const quote = pg.escapeIdentifier;

function attemptsOn({ schema, name, kind, columns, types }: SchemaObject): Attempts {
  const it = `${quote(schema)}.${quote(name)}`;
  const read = { S: [`SELECT FROM ${it} LIMIT 0`] };
  if (kind === 'view') return { ...read, O: [`COMMENT ON VIEW ${it} IS ''`] };
  if (kind === 'sequence') {
    return { ...read, N: [`SELECT nextval('${it}')`], O: [`COMMENT ON SEQUENCE ${it} IS ''`] };
  }
  if (kind === 'function') {
    // Arguments from a row, because a strict function of a constant NULL is not evaluated.
    const row = types.map((type, index) => `NULL::${type} AS a${index}`).join(', ');
    const given = types.map((_, index) => `a${index}`).join(', ');
    const call = `SELECT ${it}(${given}) FROM (SELECT ${row} OFFSET 0) AS arguments`;
    return { E: [call], O: [`COMMENT ON FUNCTION ${it}(${types.join(', ')}) IS ''`] };
  }
  return {
    ...read,
    I: columns.map((column) => `INSERT INTO ${it} (${quote(column)}) VALUES (DEFAULT)`),
    U: columns.map((column) => `UPDATE ${it} SET ${quote(column)} = DEFAULT WHERE false`),
    D: [`DELETE FROM ${it} WHERE false`],
    // With the tables that refer to it, because PostgreSQL truncates none of them alone.
    T: [`TRUNCATE ${it} CASCADE`],
    O: [`COMMENT ON TABLE ${it} IS ''`],
  };
}

/** Runs each statement, undoes it, and says which were refused: for want of a right, or by the trigger of an append-only table. */
const TRY_ALL = `
DO $$
DECLARE
  statement text;
  refused boolean[];
BEGIN
  FOR statement IN SELECT value FROM json_array_elements_text(current_setting('phds.statements')::json) LOOP
    BEGIN
      EXECUTE statement;
      RAISE SQLSTATE 'PH000';
    EXCEPTION
      WHEN insufficient_privilege THEN refused := refused || true;
      WHEN OTHERS THEN refused := refused || false;
    END;
  END LOOP;
  PERFORM set_config('phds.refused', array_to_json(refused)::text, false);
END
$$`;

async function listRefused(role: pg.Client, statements: readonly string[]): Promise<boolean[]> {
  await role.query("SELECT set_config('phds.statements', $1, false)", [JSON.stringify(statements)]);
  await role.query(TRY_ALL);
  const { rows } = await role.query("SELECT current_setting('phds.refused')::json AS refused");
  return rows[0].refused;
}

/** The letters of the rights that a role has on each object, found by trying. */
async function findRights(role: pg.Client, objects: readonly SchemaObject[]): Promise<string[]> {
  const tried = objects.flatMap((object, index) =>
    Object.entries(attemptsOn(object)).flatMap(([letter, statements]) =>
      statements.map((statement) => ({ index, letter, statement })),
    ),
  );
  const refused = await listRefused(
    role,
    tried.map(({ statement }) => statement),
  );
  const rights = objects.map(() => new Set<string>());
  for (const [position, { index, letter }] of tried.entries()) {
    if (!refused[position]) rights[index]?.add(letter);
  }
  return rights.map((letters) => [...letters].join(''));
}

const server = await startThrowawayPostgres();
shared.defer(() => server.stop());
const roles = new Map<string, pg.Client>();

const keys = await ensureKeyFiles(shared.use(openFilesOfTest()).directory);
const urls: (string | null)[] = [];
for (const service of DATABASE_SERVICES) {
  const passwords = { ...(await readDatabasePasswords(keys, service)), reader: 'reader' };
  const database = await ensureServiceDatabase({ adminUrl: server.adminUrl, service, passwords });
  urls.push(database.url, database.ownerUrl, database.readerUrl);
}
await prepareDatabases(server.adminUrl, keys);
for (const url of urls) roles.set(new URL(url ?? '').username, shared.use(await openClient(url ?? '')));
const admin = shared.use(await openClient(toDatabaseUrl(server.adminUrl, { database: 'phds' })));
const objects = await listObjects(admin);

/** Tables whose trigger refuses changes to everybody, the owner included. */
const APPEND_ONLY =
  /^(authorization|consent_audit)\.restore(_confirmation)?$|^consent\.(access_(batch|record)(_\w+)?|consent_event)$|^consent_audit\.(access_(checkpoint|dropped)|operator_act)$/;

/** Months of the access records, which only the owner and the reader reach directly. */
const PARTITION = /^consent\.access_(batch|record)_(default|\d{4}_\d{2})$/;

/** What a service may do in its own schemas; otherwise SIUD on tables, S on views, SN on sequences, E on functions. */
const OF_THE_SERVICE: Readonly<Record<string, string>> = {
  'authorization.app': 'SIU',
  'authorization.restore': 'SI',
  'authorization.restore_confirmation': 'SI',
  'consent.access_batch': 'SI',
  'consent.access_record': 'SI',
  'consent.access_day': 'SIU',
  'consent.app_day': 'SIU',
  'consent.app': 'SIU',
  'consent.app_epoch': 'SI',
  'consent.consent_event': 'SI',
  'consent.make_append_only': '',
  'consent.revoked_family': 'SIU',
  'consent.revoked_token': 'SIU',
  'consent.session_end': 'SI',
  'consent_audit.access_checkpoint': 'SI',
  'consent_audit.access_dropped': 'S',
  'consent_audit.restore': 'SI',
  'consent_audit.operator_act': 'SI',
  'consent_audit.restore_confirmation': 'SI',
};

/** Functions that act with the rights of the owner: for the service, and for nobody else. */
const WITH_RIGHTS_OF_THE_OWNER =
  /^consent\.(delete_dropped_counts|drop_access_\w+|ensure_access_partitions|make_append_only|prune_\w+)$/;

const OWN_SCHEMAS: Readonly<Record<string, readonly string[]>> = {
  authorization: ['authorization'],
  consent: ['consent', 'consent_audit'],
  health_data: ['health_data'],
};

const ALL = { table: 'SIUDTO', view: 'SO', sequence: 'SNO', function: 'EO' } as const;
const OF_ROWS = { table: 'SIUD', view: 'S', sequence: 'SN', function: 'E' } as const;
const OF_READING = { table: 'S', view: 'S', sequence: '', function: 'E' } as const;

/** The rights that the role should have. */
function expectedRights(role: string, { schema, name, kind }: SchemaObject): string {
  const [, service = '', suffix] = /^phds_(.+?)(_owner|_reader)?$/.exec(role) ?? [];
  const it = `${schema}.${name}`;
  if (!OWN_SCHEMAS[service]?.includes(schema)) return '';
  if (suffix === '_owner') return APPEND_ONLY.test(it) ? 'SIO' : ALL[kind];
  // Three of its columns.
  if (name === '_prisma_migrations') return 'S';
  if (suffix === '_reader') return WITH_RIGHTS_OF_THE_OWNER.test(it) ? '' : OF_READING[kind];
  return PARTITION.test(it) ? '' : (OF_THE_SERVICE[it] ?? OF_ROWS[kind]);
}

const nameOf = ({ schema, name, kind }: SchemaObject) => `${kind} ${schema}.${name}`;

test('every role has exactly its rights on every table, view, sequence and function, of its own and of other services', async () => {
  const tables = objects.filter(({ kind }) => kind === 'table');
  expect(tables.length).toBeGreaterThan(60);
  expect(roles.size).toBe(9);
  for (const [role, client] of roles) {
    const rights = await findRights(client, objects);
    const real = objects.map((object, index) => `${role} on ${nameOf(object)}: ${rights[index]}`);
    const expected = objects.map((object) => `${role} on ${nameOf(object)}: ${expectedRights(role, object)}`);
    expect(real).toEqual(expected);
  }
});

test('no service changes rows of a table through a view, which acts with the rights of its owner', async () => {
  const { rows } = await admin.query(`
    SELECT c.relname AS view, array_agg(r.rolname::text) FILTER (
      WHERE has_table_privilege(r.oid, c.oid, 'INSERT, UPDATE, DELETE') AND r.rolname NOT LIKE '%_owner'
    ) AS roles
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace CROSS JOIN pg_roles r
    WHERE c.relkind = 'v' AND n.nspname !~ '^pg_|^information_schema$' AND pg_relation_is_updatable(c.oid, true) <> 0
      AND r.rolname LIKE 'phds%'
    GROUP BY c.relname`);
  expect(rows).toEqual([{ view: 'uncounted_record', roles: null }]);
});

test('the tables of rights name only what exists', () => {
  const known = objects.map(({ schema, name }) => `${schema}.${name}`);
  expect(Object.keys(OF_THE_SERVICE).filter((name) => !known.includes(name))).toEqual([]);
  for (const pattern of [APPEND_ONLY, PARTITION, WITH_RIGHTS_OF_THE_OWNER]) {
    expect(known.some((name) => pattern.test(name))).toBe(true);
  }
});

test('no role has a right on the server, or on a database that is not its own', async () => {
  const { rows } = await admin.query(`
    SELECT rolname AS name, rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls AS attribute,
      EXISTS (SELECT FROM pg_auth_members WHERE member = r.oid OR roleid = r.oid AND admin_option) AS member,
      has_database_privilege(oid, 'phds', 'CREATE, TEMP') OR has_database_privilege(oid, 'postgres', 'CONNECT')
        OR has_database_privilege(oid, 'template1', 'CONNECT') AS database,
      ARRAY(SELECT nspname::text FROM pg_namespace n WHERE has_schema_privilege(r.oid, n.oid, 'CREATE') ORDER BY 1) AS schemas
    FROM pg_roles r WHERE rolname LIKE 'phds%'`);
  const creates = (name: string) =>
    Object.entries(OWN_SCHEMAS).flatMap(([service, schemas]) =>
      name === `phds_${service}_owner` ? schemas : [],
    );
  expect(rows.map(({ name }) => name).toSorted()).toEqual([...roles.keys()].toSorted());
  for (const { name, ...rights } of rows)
    expect([name, rights]).toEqual([
      name,
      { attribute: false, member: false, database: false, schemas: creates(name) },
    ]);
});

test('no role sees the statements of another one', async () => {
  for (const [role, client] of roles) {
    const { rows } = await client.query(
      "SELECT query FROM pg_stat_activity WHERE usename <> current_user AND usename LIKE 'phds%' AND query <> '<insufficient privilege>'",
    );
    expect([role, rows]).toEqual([role, []]);
  }
});
