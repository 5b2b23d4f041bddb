import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { groupByOwners } from '../src/settings-page.ts';
import { toSettingRows } from '../src/settings-table.ts';

function rowOf(schema: z.ZodType) {
  const [row] = toSettingRows(z.object({ SETTING: schema }));
  return row;
}

describe('a setting on the settings page', () => {
  test('keeps what an inner schema says through refinements, transforms and defaults', () => {
    const inner = z.string().meta({ unit: 'text', secret: true }).describe('Word.');
    const outer = inner.refine((text) => text !== '').transform((text) => text.length);
    expect(rowOf(outer)).toMatchObject({ meaning: 'Word.', value: 'text', secret: 'yes' });
  });

  test.each([
    ['a description', z.string().meta({ unit: 'text' }), 'has no .describe(…)'],
    ['a unit', z.string().describe('Text.'), 'SETTING has no unit'],
    ['only known properties', z.string().meta({ units: 'text' }).describe('Text.'), 'units'],
    ['a full sentence', z.string().meta({ unit: 'text' }).describe('Text'), 'full stop'],
  ])('must have %s', (_, schema, message) => {
    expect(() => rowOf(schema)).toThrow(message);
  });

  test.each(['SIGN_KEY', 'CLIENT_SECRET', 'DATABASE_URL', 'REDIS_PASSWORD'])(
    'must be marked as a secret if it is named %s',
    (name) => {
      const text = z.string().meta({ unit: 'text' }).describe('Text.');
      expect(() => toSettingRows(z.object({ [name]: text }))).toThrow('not marked');
      expect(toSettingRows(z.object({ [name]: text.meta({ secret: true }) }))).toHaveLength(1);
    },
  );
});

test('a setting that several services have is on the page once, below their names, with the defaults of each', () => {
  const row = (name: string, standard: string) => ({
    name,
    meaning: 'M.',
    value: 'ms',
    standard,
    secret: '',
  });
  const other = { ...row('B_MS', '`1`'), meaning: 'Other.' };
  const sections = groupByOwners([
    { name: 'one', rows: [row('B_MS', '`1`'), row('A_MS', '`1`'), row('C_MS', '`1`')] },
    { name: 'two', rows: [row('A_MS', '`2`'), other, row('C_MS', '`1`')] },
    { name: 'three', rows: [row('A_MS', '`1`')] },
  ]);
  expect(sections).toEqual([
    { heading: 'Every service', rows: [row('A_MS', '`1`, `2`')] },
    { heading: 'one and two', rows: [row('C_MS', '`1`')] },
    { heading: 'one', rows: [row('B_MS', '`1`')] },
    { heading: 'two', rows: [other] },
  ]);
});
