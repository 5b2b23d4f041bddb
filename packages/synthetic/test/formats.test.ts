import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseDay } from '../src/calendar.ts';
import { ADA } from '../src/people/ada.ts';
import { GRACE } from '../src/people/grace.ts';
import { HEAVY } from '../src/people/heavy.ts';
import { EMPTY } from '../src/people/people.ts';
import { TRAVELLER } from '../src/people/traveller.ts';
import { endOfDay, openTimeline, readingsIn, type Timeline } from '../src/timeline.ts';
import { FORMATS, type Format, writeTimeline } from '../src/write/formats.ts';

/** Days of a person up to 10 April 2026. */
const daysOf = (person: typeof ADA, days = 10) =>
  openTimeline(person, { until: endOfDay(person, parseDay('2026-04-10') ?? 0), extent: { days } });
const write = (person: typeof ADA, format: Format, days?: number) =>
  [...writeTimeline(daysOf(person, days), format)].join('');

test.each(FORMATS)('a person without data gives a valid %s file', (format) => {
  const text = write(EMPTY, format);
  if (format === 'fhir') expect(JSON.parse(text)).toMatchObject({ resourceType: 'Bundle', entry: [] });
  else expect(text).not.toContain('undefined');
});

const RUNS = { numRuns: 25 };

// Every season, trip and clock change of several years.
const lives = fc.record({
  person: fc.constantFrom(ADA, GRACE, TRAVELLER, HEAVY),
  seed: fc.integer({ min: 0, max: 1_000_000 }),
  lastDay: fc.integer({ min: parseDay('2023-01-01') ?? 0, max: parseDay('2026-12-31') ?? 0 }),
  days: fc.integer({ min: 1, max: 7 }),
});

type Choice = typeof lives extends fc.Arbitrary<infer Value> ? Value : never;

function open({ person, seed, lastDay, days }: Choice, otherSeed = seed): Timeline {
  return openTimeline(person, { seed: otherSeed, until: endOfDay(person, lastDay), extent: { days } });
}

function digest(pieces: Iterable<string>): string {
  const hash = createHash('sha256');
  for (const piece of pieces) hash.update(piece);
  return hash.digest('hex');
}

describe('for any person and time', () => {
  test('the same seed gives the same bytes in every format, another seed gives others', () => {
    fc.assert(
      fc.property(lives, fc.constantFrom(...FORMATS), (life, format) => {
        const bytes = digest(writeTimeline(open(life), format));
        expect(digest(writeTimeline(open(life), format))).toBe(bytes);
        expect(digest(writeTimeline(open(life, life.seed + 1), format))).not.toBe(bytes);
      }),
      RUNS,
    );
  });

  test('the readings of a type are ordered by time', () => {
    fc.assert(
      fc.property(lives, (life) => {
        const latest = new Map<string, number>();
        const early = [...readingsIn(open(life))].filter(({ type, start }) => {
          const before = latest.get(type) ?? 0;
          latest.set(type, start);
          return start < before;
        });
        expect(early).toEqual([]);
      }),
      RUNS,
    );
  });
});
