/** Thrown by a statement that met a database of which nobody has judged yet whether it lacks something acknowledged. */
export class Unverified extends Error {
  constructor() {
    super('the database has not been compared with what was acknowledged');
  }
}

/** What a statement compares with the instance's row: id and position. The id is null while nothing is remembered. */
export type Witness = readonly [id: string | null, position: number];

/** Runs one statement and answers its rows. */
export type VerificationQuery = (
  text: string,
  values: Witness,
) => Promise<readonly { readonly unverified: boolean }[]>;

/** SQL: whether the database in view `s` (the schema's `suspension`) is unverified, by the two parameters of a Witness. */
export function isUnverified(schema: string, id: string, position: string): string {
  return `(NOT s.identified OR (${id}::uuid IS NOT NULL AND NOT EXISTS (
    SELECT FROM "${schema}".instance own WHERE own.id = ${id}::uuid AND own.position >= ${position}::bigint)))`;
}
