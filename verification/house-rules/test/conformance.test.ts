import { expect, test } from '@jest/globals';
import { findGaps, readRows, readStatements } from '../src/conformance.ts';
import { findText } from '../src/repository.ts';

const statements = readStatements(findText('docs/interface.md') ?? '');
const rows = readRows(findText('docs/conformance.md') ?? '');

test('each statement of the interface specification has a row, in its order', () => {
  // The introduction has no section of its own.
  const [title = '', introduction = []] = [...statements][0] ?? [];
  statements.delete(title);
  const first = [...statements][0]?.[0] ?? '';
  statements.set(first, [...introduction, ...(statements.get(first) ?? [])]);
  expect([...rows.keys()]).toEqual([...statements.keys()]);
  const gaps = [...rows].flatMap(([section, found]) => findGaps(statements.get(section) ?? [], found));
  expect(gaps).toEqual([]);
});

test('each test that a row names exists', () => {
  const missing = [...rows.values()]
    .flat()
    .filter(({ test: title, file }) => !findText(file)?.includes(title));
  expect(missing).toEqual([]);
});
