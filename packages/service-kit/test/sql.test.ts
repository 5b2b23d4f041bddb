import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from '@jest/globals';
import { shared } from '@phds/test-kit/shared';
import { readStatement } from '../src/postgres/sql.ts';

const directory = await mkdtemp(join(tmpdir(), 'sql-'));
shared.defer(() => rm(directory, { recursive: true }));

async function readText(text: string): Promise<string> {
  const file = join(directory, 'statement.sql');
  await writeFile(file, text);
  return readStatement(pathToFileURL(file)).text;
}

await writeFile(join(directory, 'part.sql'), '  id\n');

test('an include stands for the text of its file', async () => {
  expect(await readText('SELECT\n-- include: part.sql\nFROM app;\n')).toBe('SELECT\n  id\nFROM app;\n');
});

test.each([
  '--include: part.sql',
  '  -- include: part.sql',
  '-- include:part.sql',
  '-- Include: part.sql',
  '-- include: a part.sql',
])('a line "%s" is refused, because Postgres would read it as a comment', async (line) => {
  await expect(readText(`SELECT\n${line}\nFROM app;\n`)).rejects.toThrow(`for "${line.trim()}"`);
});
