import { pathToFileURL } from 'node:url';
import { expect, test } from '@jest/globals';
import { openFilesOfTest } from '@phds/test-kit/files-of-test';
import { shared } from '@phds/test-kit/shared';
import { readStatement } from '../src/postgres/sql.ts';

const files = shared.use(openFilesOfTest());
files.write('part.sql', '  id\n');

const readText = (text: string) => readStatement(pathToFileURL(files.write('statement.sql', text))).text;

test('an include stands for the text of its file', () => {
  expect(readText('SELECT\n-- include: part.sql\nFROM app;\n')).toBe('SELECT\n  id\nFROM app;\n');
});

test.each([
  '--include: part.sql',
  '  -- include: part.sql',
  '-- include:part.sql',
  '-- Include: part.sql',
  '-- include: a part.sql',
])('a line "%s" is refused, because Postgres would read it as a comment', (line) => {
  expect(() => readText(`SELECT\n${line}\nFROM app;\n`)).toThrow(`for "${line.trim()}"`);
});
