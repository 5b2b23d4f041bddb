import { expect, test } from '@jest/globals';
import { fieldText } from '../src/pages/data/record-list.tsx';
import { findTimeKind } from '../src/pages/data/time-kind.ts';

test.each([
  ['2026-11-22', 'date'],
  ['2028-02-29', 'date'],
  ['2016-09', 'date'],
  ['2026-11-22T10:20:30Z', 'instant'],
  ['2026-11-22T10:20:30.123Z', 'instant'],
  ['2026-11-22T12:20+02:00', 'instant'],
] as const)('%s is taken for the %s that it is', (value, kind) => {
  expect(findTimeKind(value)).toBe(kind);
});

test('a time that is known to the month is shown as a month', () => {
  expect(fieldText({ sinceDate: '2016-09' }, 'sinceDate')).toBe('Sept\u00a02016');
});

test.each([
  '',
  'Training',
  '2026-13-01',
  '2026-02-30',
  '2026-11-22Training',
  '2026-11-22Tuesday at 10',
  '2026-11-22T',
  '2026-02-30T10:00:00Z',
  '2026-11-22T25:00:00Z',
  '2026-11-22T10:00:00Z or later',
  'on 2026-11-22',
])('the text %j is no time, so that it is shown as it is', (value) => {
  expect(findTimeKind(value)).toBeNull();
});
