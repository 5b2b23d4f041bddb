import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseDay } from '../src/calendar.ts';
import { ADA } from '../src/people/ada.ts';
import { GRACE } from '../src/people/grace.ts';
import { HEAVY } from '../src/people/heavy.ts';
import { TRAVELLER } from '../src/people/traveller.ts';
import { endOfDay, openTimeline, readingsIn, type Timeline } from '../src/timeline.ts';
import { FORMATS, writeTimeline } from '../src/write/formats.ts';

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

  test('nobody exercises or walks in bed, and nights do not overlap', () => {
    fc.assert(
      fc.property(lives, (life) => {
        const readings = [...readingsIn(open(life))];
        const nights = readings.filter(({ type }) => type === 'Time in Bed');
        for (const [index, night] of nights.entries()) {
          expect(night.start).toBeGreaterThan(nights[index - 1]?.end ?? 0);
        }
        const moving = readings.filter(({ type }) => type === 'Exercise' || type === 'Steps');
        const inBed = moving.filter(({ start, end }) =>
          nights.some((night) => start < night.end && end > night.start),
        );
        expect(inBed).toEqual([]);
      }),
      RUNS,
    );
  });

  test('intervals of one type and source do not overlap', () => {
    fc.assert(
      fc.property(lives, (life) => {
        const ends = new Map<string, number>();
        const overlapping = [...readingsIn(open(life))].filter(({ type, source, start, end }) => {
          const before = ends.get(`${type} ${source}`) ?? 0;
          ends.set(`${type} ${source}`, end);
          return start < before;
        });
        expect(overlapping).toEqual([]);
      }),
      RUNS,
    );
  });

  test('days follow each other without a gap', () => {
    fc.assert(
      fc.property(lives, (life) => {
        let end: number | null = null;
        for (const day of open(life).days()) {
          expect(day.start).toBe(end ?? day.start);
          expect(day.waking.to).toBeGreaterThan(day.waking.from);
          end = day.end;
        }
      }),
      RUNS,
    );
  });
});
