import type pg from 'pg';
import type { Statement } from '../postgres/statement.ts';

/** Thrown by a statement when it is not yet known whether the database lacks acknowledged changes. */
export class Unverified extends Error {
  constructor() {
    super('the database has not been compared with the acknowledged changes');
  }
}

/** The instance's id and position, compared with its row. The id is null while nothing is remembered. */
export type RememberedPosition = readonly [id: string | null, position: number];

/** Runs one statement and returns its rows. */
export type VerificationQuery = (
  text: string,
  values: RememberedPosition,
) => Promise<readonly { readonly unverified: boolean }[]>;

/** The statement that compares a database with the expected position; prepared statements of the services repeat its condition. */
export function toVerification(schema: string): string {
  return `
    SELECT NOT identified OR ($1::uuid IS NOT NULL AND NOT EXISTS (
      SELECT FROM "${schema}".instance WHERE id = $1::uuid AND position >= $2::bigint
    )) AS unverified
    FROM "${schema}".suspension`;
}

/**
 * Runs a statement whose rows say whether the database is unverified. Its last two values are the guard's expected position. Throws
 * Unverified; call it within `guard.verified`.
 */
export async function queryVerified<Row extends object>(
  client: pg.ClientBase | pg.Pool,
  guard: { readonly remembered: RememberedPosition },
  statement: Statement,
  values: readonly unknown[],
): Promise<Row[]> {
  const { rows } = await client.query<Row & { readonly unverified: boolean }>({
    ...statement,
    values: [...values, ...guard.remembered],
  });
  // Also where it is unknown (NULL).
  if (rows.some(({ unverified }) => unverified !== false)) throw new Unverified();
  return rows;
}
