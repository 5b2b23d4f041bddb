import { expect, test } from '@jest/globals';
import { EVERYTHING, toDayFilter, toDaysBefore, toFilterOfDay } from '../src/pages/history/selection.ts';

const days = (from: string, to: string) => toDayFilter({ ...EVERYTHING, from, to });

test('without days the history shows thirty', () => {
  const { from, to } = days('', '2026-03-30');
  expect([from, to]).toEqual(['2026-03-01', '2026-03-30']);
});

test('at most 366 days are shown, and a year that is being typed is ignored', () => {
  expect(days('2020-01-01', '2026-03-30').from).toBe('2025-03-30');
  expect(days('0002-01-01', '2026-03-30').from).toBe('2026-03-01');
});

test('the days before are as many, and keep the app', () => {
  const selection = { ...EVERYTHING, clientId: 'app_1' };
  const before = toDaysBefore(selection, { from: '2026-03-01', to: '2026-03-30' });
  expect(before).toEqual({ ...selection, from: '2026-01-30', to: '2026-02-28' });
});

test('a day of an app is from its local midnight to the next one', () => {
  const filter = toFilterOfDay({ ...EVERYTHING, scope: 'read:mood' }, '2026-03-29', 'app_1');
  const midnight = (day: number) => new Date(2026, 2, day).toISOString();
  expect(filter).toEqual({ clientId: 'app_1', scope: 'read:mood', from: midnight(29), to: midnight(30) });
});
