import { METRICS, type Metric } from '@phds/catalog/metrics';
import fc from 'fast-check';
import { fromUnits, toUnits } from './exact.ts';
import { distance, landmarks, NOW, ZONES } from './moments.ts';
import type { Sent, Span } from './person.ts';
import { type Asked, questions } from './questions.ts';

/** One change of a person's data, or one question about it. Unnamed numbers select one of the existing items. */
export type Step =
  | { readonly do: 'put'; readonly batch: readonly Sent[] }
  /** Puts existing readings again, some with another value. */
  | { readonly do: 'repeat'; readonly picks: readonly number[]; readonly change: readonly boolean[] }
  /** A second device reports the same times, so sums and times tie. */
  | { readonly do: 'echo'; readonly picks: readonly number[]; readonly source: string }
  | { readonly do: 'delete'; readonly picks: readonly number[]; readonly spans: readonly Span[] }
  | { readonly do: 'move'; readonly zone: string }
  | { readonly do: 'erase' }
  /** Concurrent importers of different sources; each puts some readings, then deletes some of its own. */
  | { readonly do: 'together'; readonly writers: readonly Writer[]; readonly zone: string | null }
  /** Questions during a write or a move of zone: each response is that of before or after. */
  | {
      readonly do: 'meanwhile';
      readonly change: readonly Sent[] | string;
      readonly questions: readonly Asked[];
    }
  | { readonly do: 'ask'; readonly questions: readonly Asked[] };

interface Writer {
  readonly batch: readonly Sent[];
  readonly spans: readonly Span[];
}

export interface History {
  readonly steps: readonly Step[];
  /** Asked at the end of the history. */
  readonly questions: readonly Asked[];
}

const DAY = 86_400_000;
const LATEST = Date.parse(NOW) + DAY;
const SOURCES = ['apple-watch', 'iphone', 'manual'] as const;

// Types with special rules are chosen more often: overlapping devices, counting by the end, several entries.
const OFTEN = METRICS.filter(({ key }) =>
  ['steps', 'sleep', 'weight', 'heart-rate', 'ecg', 'bmi'].includes(key),
);

const metric = fc.oneof(fc.constantFrom(...OFTEN), fc.constantFrom(...METRICS));

/** A value of a type: at and beside the limits of its ranges, one of few (so that sums tie), or any. */
function valueIn({
  unit,
  decimals,
  plausible,
  referenceRange,
  nullable,
}: Metric): fc.Arbitrary<number | null> {
  // For percentages, one and less would be treated as fractions.
  const min = toUnits(Math.max(plausible.min, unit === '%' ? 2 : 0), decimals);
  const max = toUnits(plausible.max, decimals);
  const low = toUnits(referenceRange?.low ?? plausible.min, decimals);
  const high = toUnits(referenceRange?.high ?? plausible.max, decimals);
  const step = Math.max(1, Math.trunc((high - low) / 10));
  const inside = (units: number) => fromUnits(Math.min(max, Math.max(min, units)), decimals);
  return fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(low, high, low - 1, high + 1).map(inside) },
    { weight: 4, arbitrary: fc.constantFrom(1, 2, 3).map((times) => inside(low + times * step)) },
    { weight: 2, arbitrary: fc.integer({ min, max }).map(inside) },
    { weight: nullable ? 5 : 0, arbitrary: fc.constant(null) },
  );
}

/** The length of an interval: often zero; for sleep most of a night or across one, at most a day. */
function durationIn({ category }: Metric): fc.Arbitrary<number> {
  const quarters = fc.integer({ min: 0, max: category === 'sleep' ? 96 : 8 }).map((count) => count * 900_000);
  const whole = category === 'sleep' ? DAY : 3_600_000;
  return fc.oneof({ weight: 3, arbitrary: quarters }, fc.integer({ min: 0, max: whole }), fc.constant(0));
}

interface Scene {
  readonly metrics: readonly Metric[];
  readonly moment: fc.Arbitrary<number>;
}

function readingIn({ metrics, moment }: Scene, sources: readonly string[]): fc.Arbitrary<Sent> {
  return fc.constantFrom(...metrics).chain((type) =>
    fc
      .record({
        start: moment,
        duration: durationIn(type),
        source: fc.constantFrom(...sources),
        value: valueIn(type),
      })
      .map(({ start, duration, source, value }) => {
        const begin = Math.min(start, LATEST - duration);
        return { type: type.key, start: begin, end: begin + duration, source, value };
      }),
  );
}

/** A device that measured for long enough to fill many pages. */
function stretchIn({ metrics, moment }: Scene): fc.Arbitrary<Sent[]> {
  return fc
    .record({
      type: fc.constantFrom(...metrics),
      start: moment,
      minutes: fc.constantFrom(1, 7, 61, 500),
      length: fc.integer({ min: 501, max: 1_300 }),
      source: fc.constantFrom(...SOURCES),
    })
    .map(({ type, start, minutes, length, source }) => {
      const low = toUnits(type.plausible.max, type.decimals) - 13;
      const first = Math.min(start, LATEST - length * minutes * 60_000);
      return Array.from({ length }, (_, index) => ({
        type: type.key,
        start: first + index * minutes * 60_000,
        end: first + index * minutes * 60_000,
        source,
        value: fromUnits(low + (index % 13), type.decimals),
      }));
    });
}

function spanIn({ metrics, moment }: Scene, sources: readonly (string | null)[]): fc.Arbitrary<Span> {
  return fc.record({
    type: fc.constantFrom(...metrics.map(({ key }) => key)),
    source: fc.constantFrom(...sources),
    from: fc.option(moment),
    to: fc.option(moment),
  });
}

const picks = fc.array(fc.nat({ max: 999 }), { minLength: 1, maxLength: 5 });

function writerIn(scene: Scene, source: string): fc.Arbitrary<Writer> {
  return fc.record({
    batch: fc.array(readingIn(scene, [source]), { minLength: 1, maxLength: 6 }),
    spans: fc.array(spanIn(scene, [source]), { maxLength: 1 }),
  });
}

function stepIn(scene: Scene, zone: fc.Arbitrary<string>): fc.Arbitrary<Step> {
  const batch = fc.array(readingIn(scene, SOURCES), { minLength: 1, maxLength: 12 });
  return fc.oneof(
    { weight: 12, arbitrary: fc.record({ do: fc.constant('put' as const), batch }) },
    {
      weight: 4,
      arbitrary: fc.record({ do: fc.constant('repeat' as const), picks, change: fc.array(fc.boolean()) }),
    },
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constant('echo' as const), picks, source: fc.constantFrom(...SOURCES) }),
    },
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constant('delete' as const),
        picks: fc.oneof(picks, fc.constant([])),
        spans: fc.array(spanIn(scene, [null, ...SOURCES]), { maxLength: 2 }),
      }),
    },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('move' as const), zone }) },
    { weight: 1, arbitrary: fc.constant({ do: 'erase' as const }) },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant('together' as const),
        writers: fc.tuple(
          writerIn(scene, 'importer-a'),
          writerIn(scene, 'importer-b'),
          writerIn(scene, 'importer-c'),
        ),
        zone: fc.option(zone, { freq: 2 }),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant('meanwhile' as const),
        change: fc.oneof({ weight: 3, arbitrary: batch }, zone),
        questions: fc.array(questions(scene.metrics, scene.moment), { minLength: 2, maxLength: 5 }),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant('ask' as const),
        questions: fc.array(questions(scene.metrics, scene.moment), { minLength: 1, maxLength: 3 }),
      }),
    },
  );
}

/** Random histories of one person, around a few landmarks of one or two zones. */
export const histories: fc.Arbitrary<History> = fc
  .record({
    zones: fc.uniqueArray(fc.constantFrom(...ZONES), { minLength: 1, maxLength: 2 }),
    metrics: fc.uniqueArray(metric, { minLength: 1, maxLength: 4 }),
  })
  .chain(({ zones, metrics }) =>
    fc.array(fc.oneof(...zones.map(landmarks)), { minLength: 1, maxLength: 3 }).chain((marks) => {
      const moment = fc
        .tuple(fc.constantFrom(...marks), distance)
        .map(([mark, away]) => Math.min(mark + away, LATEST));
      const scene = { metrics, moment };
      const zone = fc.constantFrom(...zones);
      const step = stepIn(scene, zone);
      const stretch = stretchIn(scene).map((batch) => ({ do: 'put' as const, batch }));
      const steps = fc.array(step, { minLength: 1, maxLength: 8 });
      return fc.record({
        steps: fc.oneof(
          { weight: 24, arbitrary: steps },
          {
            weight: 1,
            arbitrary: fc.tuple(stretch, steps).map(([first, rest]) => [first, ...rest]),
          },
        ),
        questions: fc.array(questions(metrics, moment), { minLength: 6, maxLength: 10 }),
      });
    }),
  );
