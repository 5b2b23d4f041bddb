import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from '@jest/globals';

const MODULE = pathToFileURL(join(import.meta.dirname, '../src/pages/apps/narrowing-draft.ts')).href;

interface Case {
  readonly zone: string;
  readonly now: string;
  readonly lastDay?: string;
  readonly dataFrom?: string;
  readonly withdrawn?: readonly string[];
  /** The terms before. */
  readonly expiresAt?: string;
  readonly presentDataFrom?: string | null;
}

interface Outcome {
  readonly fault: { readonly field: string | null; readonly id: string } | null;
  readonly expiresAt: string;
  readonly days?: { readonly min: string; readonly max: string };
  readonly firstDays: { readonly min?: string; readonly max: string };
}

/** Applies the form's logic to a draft in a browser with this zone, at this instant. A zone can only be set for a new process. */
function choose({ zone, now, withdrawn = [], presentDataFrom = null, ...rest }: Case): Outcome {
  const program = `
    const { findFault, findFirstDays, findLastDays, toNarrowing } = await import(${JSON.stringify(MODULE)});
    const { now, draft, terms } = JSON.parse(process.argv[1]);
    const chosen = { ...draft, withdrawn: new Set(draft.withdrawn) };
    const days = findLastDays(terms, now);
    const firstDays = findFirstDays(terms, now);
    const fault = findFault(terms, chosen, now);
    console.log(JSON.stringify({ fault, days, firstDays, ...toNarrowing(terms, chosen) }));`;
  const { lastDay = '', dataFrom = '', expiresAt = '2028-12-31T12:00:00Z' } = rest;
  const terms = { scopes: ['read:mood', 'read:weight'], expiresAt, dataFrom: presentDataFrom };
  const input = JSON.stringify({ now: Date.parse(now), draft: { withdrawn, lastDay, dataFrom }, terms });
  const env = { ...process.env, TZ: zone };
  return JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', program, input], { env, encoding: 'utf8' }),
  );
}

describe('sharing that is to end after today', () => {
  test.each([
    ['Europe/Berlin', '2026-11-21T22:59:59Z', '2026-11-21', '2026-11-21T23:00:00.000Z'],
    // When summer ends.
    ['Europe/Berlin', '2026-10-24T22:30:00Z', '2026-10-25', '2026-10-25T23:00:00.000Z'],
    ['Pacific/Kiritimati', '2026-11-21T10:30:00Z', '2026-11-22', '2026-11-22T10:00:00.000Z'],
    // Where the next day has no midnight.
    ['Asia/Beirut', '2027-03-27T21:30:00Z', '2027-03-27', '2027-03-27T22:00:00.000Z'],
  ])('in %s at %s ends at the end of that day', (zone, now, lastDay, end) => {
    const { fault, expiresAt, days } = choose({ zone, now, lastDay });
    expect([fault, expiresAt, days?.min]).toEqual([null, end, lastDay]);
    expect(Date.parse(expiresAt)).toBeGreaterThan(Date.parse(now));
  });
});

describe('an invalid last day', () => {
  test("is refused with a reason once it is over in the browser's zone", () => {
    const yesterday = { zone: 'Europe/Berlin', now: '2026-11-21T23:00:00Z', lastDay: '2026-11-21' };
    expect(choose(yesterday).fault).toEqual({ field: 'lastDay', id: 'faultLastDayOver' });
  });

  test('is refused with a reason if sharing ends before that day is over', () => {
    const now = '2026-11-21T22:00:00Z';
    const today = { zone: 'Europe/Berlin', now, lastDay: '2026-11-21', expiresAt: '2026-11-21T22:30:00Z' };
    expect(choose(today).fault).toEqual({ field: 'lastDay', id: 'faultLastDayLate' });
    expect(choose(today).days).toBeUndefined();
  });
});

describe('the earliest day of shared data', () => {
  const evening = { zone: 'Europe/Berlin', now: '2026-11-21T23:20:00Z' };

  test("may be today in the browser's zone, and not later", () => {
    expect(choose({ ...evening, dataFrom: '2026-11-22' })).toMatchObject({
      fault: null,
      dataFrom: '2026-11-22',
      firstDays: { max: '2026-11-22' },
    });
    const tomorrow = choose({ ...evening, dataFrom: '2026-11-23' });
    expect(tomorrow.fault).toEqual({ field: 'dataFrom', id: 'dayFuture' });
  });

  test('may not be earlier than the present one, because that would share more', () => {
    const terms = { ...evening, presentDataFrom: '2026-06-01' };
    expect(choose({ ...terms, dataFrom: '2026-06-01' })).toMatchObject({
      fault: null,
      firstDays: { min: '2026-06-01' },
    });
    const earlier = choose({ ...terms, dataFrom: '2026-05-31' });
    expect(earlier.fault).toEqual({ field: 'dataFrom', id: 'faultFirstDayEarly' });
  });
});
