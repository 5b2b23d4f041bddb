import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from '@jest/globals';
import { EVERYTHING, toDayFilter, toDaysBefore } from '../src/pages/history/selection.ts';

const MODULE = pathToFileURL(join(import.meta.dirname, '../src/pages/history/selection.ts')).href;

const days = (from: string, to: string) => toDayFilter({ ...EVERYTHING, from, to });

test('at most 366 days are shown, and a year that is being typed is ignored', () => {
  expect(days('2020-01-01', '2026-03-30').from).toBe('2025-03-30');
  expect(days('0002-01-01', '2026-03-30').from).toBe('2026-03-01');
});

test('the days before are as many, and keep the app', () => {
  const selection = { ...EVERYTHING, clientId: 'app_1' };
  const before = toDaysBefore(selection, { from: '2026-03-01', to: '2026-03-30' });
  expect(before).toEqual({ ...selection, from: '2026-01-30', to: '2026-02-28' });
});

/** The filter of a day in a browser with this zone. A zone can only be set for a new process. */
function filterOfDay(zone: string, day: string) {
  const program = `
    const { toFilter } = await import(${JSON.stringify(MODULE)});
    const [from, to] = [process.argv[1], process.argv[1]];
    console.log(JSON.stringify(toFilter({ clientId: 'app_1', from, to })));`;
  const args = ['--input-type=module', '-e', program, day];
  const env = { ...process.env, TZ: zone };
  return JSON.parse(execFileSync(process.execPath, args, { env, encoding: 'utf8' }));
}

test.each([
  ['Europe/Berlin', '2026-03-29', '2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z'],
  ['Pacific/Kiritimati', '2026-03-29', '2026-03-28T10:00:00.000Z', '2026-03-29T10:00:00.000Z'],
])('in %s the day %s of an app is from its local midnight to the next one', (zone, day, from, to) => {
  expect(filterOfDay(zone, day)).toEqual({ clientId: 'app_1', from, to });
});
