import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type pg from 'pg';
import { inTransaction } from './postgres.ts';

/** A pool, or a connection in a transaction. */
export type Queryable = pg.Pool | pg.ClientBase;

/** `occurredAt` is stored in `occurred_at`. */
export function toColumnName(field: string): string {
  return field.replaceAll(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`);
}

/** The longest transaction that `transact` commits. */
const LONGEST_TRANSACTION_MS = 11_000;

/** Runs `use` in a transaction, which is committed unless `use` throws, or takes longer than eleven seconds. */
export function transact<T>(pool: pg.Pool, use: (client: pg.ClientBase) => Promise<T>): Promise<T> {
  return inTransaction(pool, use, LONGEST_TRANSACTION_MS);
}

/** A statement that each connection prepares once, by name. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/**
 * Reads a statement from its `.sql` file, which also gives its name. A line `-- include: parts/x.sql` stands for the text of that file,
 * relative to this one. Called when a module loads, so a missing file, or an include of another form, stops start-up.
 */
export function readStatement(file: URL): Statement {
  return { name: basename(file.pathname, '.sql'), text: readText(file) };
}

function readText(file: URL): string {
  const text = readFileSync(file, 'utf8').replaceAll(/^-- include: (\S+)\n/gm, (_, part) =>
    readText(new URL(part, file)),
  );
  // To Postgres it is a comment.
  const [mistyped] = /--\s*include:.*/i.exec(text) ?? [];
  if (mistyped !== undefined) throw new Error(`${file.pathname}: write "-- include: FILE" for "${mistyped}"`);
  return text;
}

/**
 * Runs a statement, prepared once for each connection, and returns its rows. `pg` returns int8 and numeric as text, and a date as midnight
 * in the time zone of the process, so statements cast them: to int, float8 or text.
 */
export async function queryRows<Row extends object>(
  database: Queryable,
  statement: Statement,
  ...values: unknown[]
): Promise<Row[]> {
  return (await database.query<Row>({ ...statement, values })).rows;
}

/** The `total` that a statement counts. */
export async function queryCount(
  database: Queryable,
  statement: Statement,
  ...values: unknown[]
): Promise<number> {
  const [counted] = await queryRows<{ total: number }>(database, statement, ...values);
  return counted?.total ?? 0;
}

/** Runs a statement in the same way and returns the number of rows that it changed or selected. */
export async function runStatement(
  database: Queryable,
  statement: Statement,
  ...values: unknown[]
): Promise<number> {
  return (await database.query({ ...statement, values })).rowCount ?? 0;
}
