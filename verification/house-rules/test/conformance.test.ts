import { expect, test } from '@jest/globals';
import { readRows, readStatements } from '../src/conformance.ts';
import { findText } from '../src/repository.ts';

const statements = readStatements(findText('docs/interface.md') ?? '');
const rows = readRows(findText('docs/conformance.md') ?? '');

test('each statement of the interface specification has one row, in its order', () => {
  // The introduction has no section of its own.
  const [title = '', introduction = []] = [...statements][0] ?? [];
  statements.delete(title);
  const first = [...statements][0]?.[0] ?? '';
  statements.set(first, [...introduction, ...(statements.get(first) ?? [])]);
  expect([...rows.keys()]).toEqual([...statements.keys()]);
  for (const [section, found] of rows) {
    const expected = statements.get(section) ?? [];
    const differing = expected.filter((text, index) => !text.startsWith(found[index]?.statement ?? '-'));
    expect({ section, differing, rows: found.length }).toEqual({
      section,
      differing: [],
      rows: expected.length,
    });
  }
});

test('each test that a row names exists', () => {
  const missing = [...rows.values()]
    .flat()
    .filter(({ test: title, file }) => !findText(file)?.includes(title));
  expect(missing).toEqual([]);
});
