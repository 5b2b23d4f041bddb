/** Thrown by a statement when it is not yet known whether the database lacks acknowledged changes. */
export class Unverified extends Error {
  constructor() {
    super('the database has not been compared with the acknowledged changes');
  }
}

/** The instance's id and position, compared with its row. The id is null while nothing is remembered. */
export type Witness = readonly [id: string | null, position: number];

/** Runs one statement and returns its rows. */
export type VerificationQuery = (
  text: string,
  values: Witness,
) => Promise<readonly { readonly unverified: boolean }[]>;

/**
 * SQL condition: whether the database is unverified. `s` is the schema's view `suspension`; the other two are the parameters of a
 * Witness.
 */
export function isUnverified(schema: string, id: string, position: string): string {
  return `(NOT s.identified OR (${id}::uuid IS NOT NULL AND NOT EXISTS (
    SELECT FROM "${schema}".instance own WHERE own.id = ${id}::uuid AND own.position >= ${position}::bigint)))`;
}
