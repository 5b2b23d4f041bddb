import { test } from '@jest/globals';
import type { MetricKey } from '@phds/catalog/metrics';
import fc from 'fast-check';
import { createPgUserEraser } from '../src/store/pg-user-eraser.ts';
import { row, shareRollupHarness } from './rollup-harness.ts';
import type { ReadingRow } from './rollup-reference.ts';

const harness = await shareRollupHarness();

/** Number of histories; `pnpm prove:summaries` runs many, of a random seed. */
const GIVEN = process.env['ROLLUP_HISTORIES'];
const HISTORIES = Number(GIVEN ?? 8);

const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/Havana',
  'America/Santiago',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
];

// Around the nights in which the clocks of these zones change, and the end of a year.
const BEGINNINGS = [
  '2025-03-09T03:00:00Z',
  '2025-03-29T20:00:00Z',
  '2025-04-05T13:00:00Z',
  '2025-04-06T01:00:00Z',
  '2025-09-07T02:00:00Z',
  '2025-10-04T14:00:00Z',
  '2025-10-26T00:00:00Z',
  '2025-11-02T03:00:00Z',
  '2025-12-31T22:00:00Z',
].map((text) => Date.parse(text));

const TYPES: readonly [MetricKey, readonly (number | null)[]][] = [
  ['heart-rate', [40, 41, 70, 131]],
  ['temperature', [36.09, 36.1, 37.25, 38.01]],
  ['ecg', [null, 60, 62]],
  ['steps', [0, 5, 10, 15]],
  ['distance', [0.1, 0.2, 0.3, 12.7]],
  ['sleep', [0, 419.9, 200.1, 540.1]],
  ['sleep-rem', [30, 0.1]],
];

// Mostly in one night, so that readings share hours; a history starts in one of the nights.
const toArbitraryReading = (night: number): fc.Arbitrary<ReadingRow> =>
  fc
    .record({
      type: fc.constantFrom(...TYPES),
      pick: fc.nat(),
      beginning: fc.oneof({ weight: 5, arbitrary: fc.constant(night) }, fc.constantFrom(...BEGINNINGS)),
      minutes: fc.integer({ min: 0, max: 12 }),
      length: fc.constantFrom(0, 0, 15, 480, 1440),
      source: fc.constantFrom('iphone', 'apple-watch'),
    })
    .map(({ type: [type, values], pick, beginning, minutes, length, source }) => {
      const start = beginning + minutes * 15 * 60_000;
      return {
        type,
        start,
        end: start + length * 60_000,
        value: values[pick % values.length] ?? null,
        source,
      };
    });

type Step =
  | { readonly kind: 'put' | 'repeat' | 'change' | 'delete'; readonly rows: readonly ReadingRow[] }
  | { readonly kind: 'window'; readonly row: ReadingRow; readonly hours: number; readonly anySource: boolean }
  | { readonly kind: 'zone'; readonly zone: string | null }
  | { readonly kind: 'invalidate' | 'erase' };

function toArbitraryStep(night: number): fc.Arbitrary<Step> {
  const reading = toArbitraryReading(night);
  const rowsOf = (maxLength: number) => fc.array(reading, { minLength: 1, maxLength });
  return fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('put' as const), rows: rowsOf(12) }) },
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constantFrom('repeat' as const, 'change', 'delete'), rows: rowsOf(6) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('window' as const),
        row: reading,
        hours: fc.constantFrom(1, 5, 10_000),
        anySource: fc.boolean(),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('zone' as const), zone: fc.constantFrom(...ZONES, null) }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('invalidate' as const, 'erase') }) },
  );
}

async function take(userId: string, step: Step): Promise<void> {
  const stored = await harness.storedOf(userId);
  // A randomly chosen stored reading.
  const meant = (rows: readonly ReadingRow[]) =>
    distinct(rows.flatMap(({ start }) => stored[(start / 900_000) % stored.length] ?? []));
  switch (step.kind) {
    case 'put':
      await harness.put(userId, distinct(step.rows));
      return;
    case 'repeat':
      await harness.put(userId, meant(step.rows));
      return;
    case 'change':
      await harness.put(
        userId,
        meant(step.rows).map((row) => ({ ...row, value: row.value === null ? 61 : row.value + 1 })),
      );
      return;
    case 'delete':
      await harness.remove(userId, [...meant(step.rows), ...distinct(step.rows)]);
      return;
    case 'window': {
      const { type, start, source } = step.row;
      const range = { from: new Date(start), to: new Date(start + step.hours * 3_600_000) };
      await harness.remove(userId, [], [{ metric: type, source: step.anySource ? null : source, range }]);
      return;
    }
    case 'zone':
      await harness.profiles.put(userId, { timeZone: step.zone });
      return;
    case 'invalidate':
      await harness.invalidate(userId);
      return;
    case 'erase':
      await createPgUserEraser(harness.pool).erase(userId);
  }
}

function distinct(rows: readonly ReadingRow[]): ReadingRow[] {
  return [
    ...new Map(rows.map((row) => [[row.type, row.start, row.end, row.source].join(' '), row])).values(),
  ];
}

async function zoneOf(userId: string): Promise<string> {
  const { rows } = await harness.pool.query('SELECT time_zone FROM profile WHERE user_id = $1', [userId]);
  return rows[0]?.time_zone ?? 'UTC';
}

test('after any history of writes, the derived tables equal those computed from the readings, and those of a rebuild', async () => {
  let histories = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...ZONES),
      fc
        .constantFrom(...BEGINNINGS)
        .chain((night) => fc.array(toArbitraryStep(night), { minLength: 1, maxLength: 12 })),
      async (zone, steps) => {
        histories += 1;
        const userId = `history-${histories}`;
        await harness.profiles.put(userId, { timeZone: zone });
        for (const step of steps) {
          await take(userId, step);
          // Invalid rollups may contain anything; the next write corrects them.
          if (step.kind === 'invalidate') continue;
          await harness.put(userId, [row('weight', '2025-01-01T00:00:00Z', 80)]);
          await harness.expectKept(userId, await zoneOf(userId));
        }
        await harness.invalidate(userId);
        await harness.rollups.rebuild(userId, new AbortController().signal);
        await harness.expectKept(userId, await zoneOf(userId));
      },
    ),
    { numRuns: HISTORIES, ...(GIVEN === undefined && { seed: 1 }) },
  );
});
