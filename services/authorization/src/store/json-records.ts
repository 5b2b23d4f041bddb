/**
 * An array for `json_to_record`: objects with names in snake_case, and bytes in the form that Postgres reads. Postgres plans for ten
 * elements of an array, but for a hundred rows of `json_to_recordset`, and would read whole indexes of tables that were once small.
 */
export function toJsonRecords(records: readonly object[]): string[] {
  const toColumn = ([name, value]: [string, unknown]) => [
    name.replaceAll(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`),
    value instanceof Uint8Array ? toHex(value) : value,
  ];
  return records.map((record) => JSON.stringify(Object.fromEntries(Object.entries(record).map(toColumn))));
}

/** Bytes as a text that Postgres reads. */
export function toHex(bytes: Uint8Array): string {
  return `\\x${Buffer.from(bytes).toString('hex')}`;
}
