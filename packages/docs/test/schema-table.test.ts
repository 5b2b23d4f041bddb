import { expect, test } from '@jest/globals';
import { toFieldTables } from '../src/schema-table.ts';

test('a table of fields has those of every alternative of a nested object', () => {
  const id = { type: 'string' };
  const read = { properties: { id, value: { type: 'number' } }, required: ['id', 'value'] };
  const deleted = { properties: { id, deleted: { const: true } }, required: ['id', 'deleted'] };
  const schema = { properties: { data: { items: { anyOf: [read, deleted] } } }, required: ['data'] };
  expect(toFieldTables(schema, false).split('\n').slice(3, -1)).toEqual([
    '| `data[].id` | string |  |',
    '| `data[].value` | number | May be absent. |',
    '| `data[].deleted` | `true` | May be absent. |',
  ]);
});
