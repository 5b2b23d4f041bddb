import { expect, test } from '@jest/globals';
import { isTimeZone } from '@phds/catalog/time-zones';

test('time zones are IANA names and nothing else', () => {
  expect(['Europe/Berlin', 'UTC', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5'].every(isTimeZone)).toBe(
    true,
  );
  expect(['', '+01:00', 'Nowhere', 'Europe/Berlin ', 'x'.repeat(99)].some(isTimeZone)).toBe(false);
  // Names that Postgres takes for other zones than the language does.
  expect(['CET', 'met', 'AST', 'PST', 'IST', 'NST'].some(isTimeZone)).toBe(false);
});
