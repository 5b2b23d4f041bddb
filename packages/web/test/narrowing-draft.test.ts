import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from '@jest/globals';

const MODULE = pathToFileURL(join(import.meta.dirname, '../src/pages/apps/narrowing-draft.ts')).href;
const OVER = 'The last day is over. Choose today or a later day. To end now, stop sharing above.';
const TOO_LATE = 'Sharing ends before that day is over. Choose an earlier day.';

interface Case {
  readonly zone: string;
  readonly now: string;
  readonly lastDay: string;
  readonly expiresAt?: string;
}

interface Outcome {
  readonly fault: string | null;
  readonly expiresAt: string;
  readonly days?: { readonly min: string; readonly max: string };
}

/** Applies the form's logic to a last day in a browser with this zone, at this instant. A zone can only be set for a new process. */
function choose({ zone, now, lastDay, expiresAt = '2028-12-31T12:00:00Z' }: Case): Outcome {
  const program = `
    const { findFault, findLastDays, toNarrowing } = await import(${JSON.stringify(MODULE)});
    const { now, lastDay, expiresAt } = JSON.parse(process.argv[1]);
    const grant = { scopes: ['read:mood'], expiresAt };
    const draft = { withdrawn: new Set(), lastDay, dataFrom: '' };
    const days = findLastDays(grant, now);
    console.log(JSON.stringify({ fault: findFault(grant, draft, now), days, ...toNarrowing(grant, draft) }));`;
  const input = JSON.stringify({ now: Date.parse(now), lastDay, expiresAt });
  const env = { ...process.env, TZ: zone };
  return JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', program, input], { env, encoding: 'utf8' }),
  );
}

describe('sharing that is to end after today', () => {
  test.each([
    [
      'Europe/Berlin',
      'late in the evening',
      '2026-11-21T22:59:59Z',
      '2026-11-21',
      '2026-11-21T23:00:00.000Z',
    ],
    ['Europe/Berlin', 'after midnight', '2026-11-21T23:20:00Z', '2026-11-22', '2026-11-22T23:00:00.000Z'],
    ['Europe/Berlin', 'on 29 February', '2028-02-29T22:59:00Z', '2028-02-29', '2028-02-29T23:00:00.000Z'],
    ['Europe/Berlin', 'on 31 December', '2026-12-31T22:30:00Z', '2026-12-31', '2026-12-31T23:00:00.000Z'],
    ['Europe/Berlin', 'when summer begins', '2027-03-28T00:30:00Z', '2027-03-28', '2027-03-28T22:00:00.000Z'],
    ['Europe/Berlin', 'when summer ends', '2026-10-24T22:30:00Z', '2026-10-25', '2026-10-25T23:00:00.000Z'],
    [
      'Pacific/Kiritimati',
      'a day ahead of UTC',
      '2026-11-21T10:30:00Z',
      '2026-11-22',
      '2026-11-22T10:00:00.000Z',
    ],
    [
      'America/Los_Angeles',
      'a day behind UTC',
      '2026-11-22T07:59:00Z',
      '2026-11-21',
      '2026-11-22T08:00:00.000Z',
    ],
    [
      'Asia/Beirut',
      'where the next day has no midnight',
      '2027-03-27T21:30:00Z',
      '2027-03-27',
      '2027-03-27T22:00:00.000Z',
    ],
  ])('in %s %s ends at the end of that day', (zone, _when, now, lastDay, end) => {
    const { fault, expiresAt, days } = choose({ zone, now, lastDay });
    expect([fault, expiresAt, days?.min]).toEqual([null, end, lastDay]);
    expect(Date.parse(expiresAt)).toBeGreaterThan(Date.parse(now));
  });
});

describe('an invalid last day', () => {
  test("is refused with a reason once it is over in the browser's zone", () => {
    const yesterday = { zone: 'Europe/Berlin', now: '2026-11-21T23:00:00Z', lastDay: '2026-11-21' };
    expect(choose(yesterday).fault).toBe(OVER);
  });

  test('is refused with a reason if sharing ends before that day is over', () => {
    const now = '2026-11-21T22:00:00Z';
    const today = { zone: 'Europe/Berlin', now, lastDay: '2026-11-21', expiresAt: '2026-11-21T22:30:00Z' };
    expect(choose(today)).toMatchObject({ fault: TOO_LATE });
    expect(choose(today).days).toBeUndefined();
  });
});
