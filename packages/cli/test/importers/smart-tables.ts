import { openFilesOfTest } from '@phds/test-kit/files-of-test';
import { smartImporter } from '../../src/importers/smart/importer.ts';
import { TABLES, type TableName } from '../../src/importers/smart/tables.ts';
import { type CollectedItems, type CollectOptions, collect } from './collected-items.ts';

type Rows = readonly Readonly<Record<string, string>>[];
/** Tables by name: rows, or the text of the file. */
export type TableContent = { readonly [Name in TableName]?: Rows | string };

/** A table with all the columns that are used, and some others. */
export function toTable(name: TableName, rows: Rows): string {
  const columns = ['EMAIL', ...TABLES[name].required, ...TABLES[name].optional, 'GENDER'];
  const lines = rows.map((row) => columns.map((column) => row[column] ?? '').join('\t'));
  return `${[columns.join('\t'), ...lines].join('\n')}\n`;
}

/** Writes tables and imports them. */
export async function importTables(
  content: TableContent,
  options: CollectOptions = {},
): Promise<CollectedItems> {
  using files = openFilesOfTest();
  for (const [name, rows] of Object.entries(content)) {
    files.write(`${name}.txt`, typeof rows === 'string' ? rows : toTable(name as TableName, rows));
  }
  return await collect(smartImporter, [files.directory], options);
}
