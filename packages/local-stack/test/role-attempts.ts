import pg from 'pg';

/** Something in a schema that rights are given on. */
export interface SchemaObject {
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
export async function listObjects(admin: pg.Client): Promise<SchemaObject[]> {
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
export async function findRights(role: pg.Client, objects: readonly SchemaObject[]): Promise<string[]> {
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
