import { expect, test } from '@jest/globals';
import { findTimeBounds, isWithin } from '../src/fhir/dates.ts';

const TIME = Date.parse('2026-01-02T10:00:00.500Z');

test.each([
  ['eq2026-01-02T10:00:00.500Z', true],
  ['2026-01-02T10:00:00.501Z', false],
  ['2026-01-02T10:00:00Z', true],
  ['2026-01-02T11:00+01:00', true],
  ['2026-01-02T10:00:00', true],
  ['ge2026-01-02T10:01', false],
  ['2026-01', true],
  ['2025', false],
  ['ge2026-01-02T10:00:00.500Z', true],
  ['ge2026-01-02T10:00:00.501Z', false],
  ['gt2026-01-01', true],
  ['gt2026-01-02', false],
  ['le2026-01-02', true],
  ['le2026-01-01', false],
  ['lt2026-01-03', true],
  ['lt2026-01-02T10:00:00.500Z', false],
  ['sa2026-01-01', true],
  ['sa2026', false],
  ['eb2026-01-03', true],
  ['eb2026-01-02', false],
])('date=%s finds an instant: %p', (text, isFound) => {
  const bounds = findTimeBounds(text);
  expect(bounds && isWithin({ start: TIME, end: TIME }, bounds)).toBe(isFound);
});
