import { readdirSync } from 'node:fs';
import type pg from 'pg';

/** The statements in the `.sql` files of a directory, read as the service reads them. */
export function readSqlFiles(
  directory: URL,
  read: (file: URL) => { readonly text: string },
): (readonly [file: string, text: string])[] {
  return readdirSync(directory)
    .filter((file) => file.endsWith('.sql'))
    .map((file) => [file, read(new URL(file, directory)).text] as const);
}

/** The plan of a statement for any values, as `psql` shows it for the text as it stands in its file. */
export async function explainGeneric(client: pg.ClientBase, text: string): Promise<string> {
  const { rows } = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN (GENERIC_PLAN) ${text}`);
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

/** The indexes in a plan, sorted; those of a partition by the name of the index that they are part of. */
export function listIndexes(plan: string): string[] {
  const found = [
    ...plan.matchAll(/(?:Scan(?: Backward)? using|Bitmap Index Scan on|Arbiter Indexes:) (\w+)/g),
  ];
  return [...new Set(found.map(([, name = '']) => name.replace(/_(default|\d{4}_\d{2})(?=_)/, '')))].sort();
}

/** The indexes that the comment of a statement names, sorted. Indented lines after that of `Indexes:` belong to it. */
export function listNamedIndexes(text: string): string[] {
  const [names = ''] = /^-- Indexes: .*\n(?:-- {2}.*\n)*/m.exec(text) ?? [];
  return [...names.matchAll(/\w+_(?:pkey|idx|key)\b/g)].map(([name]) => name).sort();
}
