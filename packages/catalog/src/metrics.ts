import type { Category } from './categories.ts';
import { CATEGORY_SLUGS } from './categories.ts';

/** How a type is summarised: averaged, or summed to daily totals. */
type MetricKind = 'average' | 'additive';

type Row = readonly [
  key: string,
  name: string,
  unit: string,
  kind: MetricKind,
  decimals: number,
  loinc: string | null,
  min: number,
  max: number,
];

// The table of metric types, one line for each. Columns: key (stored, never changes) · public name · UCUM unit · kind · decimals
// · LOINC · plausible min and max. A LOINC code with a single source is null until it is verified.
const TABLE = {
  heart: [
    ['heart-rate', 'Heart Rate', '/min', 'average', 0, '8867-4', 20, 300],
    ['resting-hr', 'Resting HR', '/min', 'average', 0, '40443-4', 20, 200],
    ['walking-hr', 'Walking HR', '/min', 'average', 0, null, 30, 250],
    ['hrv', 'HRV', 'ms', 'average', 1, '80404-7', 0, 500],
    ['ecg', 'ECG', '/min', 'average', 0, null, 20, 300],
  ],
  'blood-pressure': [
    ['blood-pressure', 'Blood Pressure', 'mm[Hg]', 'average', 0, '8480-6', 50, 300],
    ['bp-diastolic', 'BP Diastolic', 'mm[Hg]', 'average', 0, '8462-4', 20, 200],
  ],
  oxygen: [['spo2', 'SPO2', '%', 'average', 1, '59408-5', 50, 100]],
  respiratory: [
    ['respiratory-rate', 'Respiratory Rate', '/min', 'average', 1, '9279-1', 2, 80],
    ['respiratory', 'Respiratory', '/min', 'average', 1, '9279-1', 2, 80],
  ],
  glucose: [['glucose', 'Glucose', 'mg/dL', 'average', 1, '41653-7', 10, 1000]],
  temperature: [['temperature', 'Temperature', 'Cel', 'average', 2, '8310-5', 25, 45]],
  activity: [
    ['steps', 'Steps', '{steps}', 'additive', 0, '55423-8', 0, 100_000],
    ['distance', 'Distance', 'm', 'additive', 1, null, 0, 500_000],
    ['calories', 'Calories', 'kcal', 'additive', 1, '41981-2', 0, 20_000],
    ['basal-calories', 'Basal Calories', 'kcal', 'additive', 1, null, 0, 10_000],
    ['exercise', 'Exercise', 'min', 'additive', 1, null, 0, 1440],
    ['flights', 'Flights', '{flights}', 'additive', 0, '100304-5', 0, 2000],
  ],
  sleep: [
    ['sleep', 'Sleep', 'min', 'additive', 1, '93832-4', 0, 1440],
    ['sleep-deep', 'Sleep Deep', 'min', 'additive', 1, '93831-6', 0, 1440],
    ['sleep-core', 'Sleep Core', 'min', 'additive', 1, '93830-8', 0, 1440],
    ['sleep-rem', 'Sleep REM', 'min', 'additive', 1, '93829-0', 0, 1440],
    ['sleep-awake', 'Sleep Awake', 'min', 'additive', 1, null, 0, 1440],
    ['time-in-bed', 'Time in Bed', 'min', 'additive', 1, null, 0, 1440],
  ],
  'body-composition': [
    ['weight', 'Weight', 'kg', 'average', 2, '29463-7', 0.5, 500],
    ['height', 'Height', 'cm', 'average', 1, '8302-2', 20, 280],
    ['bmi', 'BMI', 'kg/m2', 'average', 1, '39156-5', 5, 150],
    ['body-fat', 'Body Fat', '%', 'average', 1, '41982-0', 1, 80],
  ],
  mindfulness: [['mindfulness', 'Mindfulness', 'min', 'additive', 1, null, 0, 1440]],
} as const satisfies Record<Category, readonly Row[]>;

type TableRow = (typeof TABLE)[Category][number];

/** Stable database key of a metric type; not part of the public interface. */
export type MetricKey = TableRow[0];

/** Public name of a metric type. */
export type MetricName = TableRow[1];

/** Usual range for healthy adults, inclusive. Informational, not for diagnosis. */
interface ReferenceRange {
  readonly low: number;
  readonly high: number;
  readonly source: string;
}

/** The fixed properties of a metric type. */
export interface Metric {
  readonly key: MetricKey;
  readonly name: MetricName;
  readonly category: Category;
  /** UCUM unit of all numbers of this entry. */
  readonly unit: string;
  readonly kind: MetricKind;
  /** Decimals of a stored value. Averages have one more. */
  readonly decimals: number;
  /** Null where no code exists or none was verified by a second source. */
  readonly loinc: string | null;
  /** Inclusive. Samples outside are refused at ingestion. */
  readonly plausible: { readonly min: number; readonly max: number };
  /** Applies to single readings of average types and to daily totals of additive types. Null: no range is returned. */
  readonly referenceRange: ReferenceRange | null;
  /** Which end of the interval determines the day. Sleep counts for the local date of waking up. */
  readonly bucketBy: 'start' | 'end';
  /** Whether a reading may have no value: only an ECG recorded without a heart rate. */
  readonly nullable: boolean;
}

const NEWS2 = 'NEWS2, Royal College of Physicians 2017';

const REFERENCE_RANGES: { readonly [K in MetricKey]?: ReferenceRange } = {
  'heart-rate': { low: 41, high: 130, source: NEWS2 },
  'resting-hr': { low: 60, high: 100, source: 'American Heart Association, adult resting rate' },
  'blood-pressure': { low: 90, high: 129, source: 'ACC/AHA: from 130 stage 1, below 90 low' },
  // The same source as the systolic range, with the limits it names for the diastolic value.
  'bp-diastolic': { low: 60, high: 79, source: 'ACC/AHA: from 80 stage 1, below 60 low' },
  spo2: { low: 95, high: 100, source: 'FDA / Mayo Clinic usual range' },
  'respiratory-rate': { low: 12, high: 20, source: NEWS2 },
  respiratory: { low: 12, high: 20, source: NEWS2 },
  glucose: {
    low: 70,
    high: 180,
    source: 'International Consensus on Time in Range, Diabetes Care 42(8):1593, 2019',
  },
  temperature: { low: 36.1, high: 38.0, source: NEWS2 },
  bmi: { low: 18.5, high: 24.9, source: 'WHO adult classes' },
  sleep: { low: 420, high: 540, source: 'National Sleep Foundation 2015' },
};

function toMetric(category: Category, row: TableRow): Metric {
  const [key, name, unit, kind, decimals, loinc, min, max] = row;
  return {
    key,
    name,
    category,
    unit,
    kind,
    decimals,
    loinc,
    plausible: { min, max },
    referenceRange: REFERENCE_RANGES[key] ?? null,
    bucketBy: category === 'sleep' ? 'end' : 'start',
    nullable: key === 'ecg',
  };
}

/** Every metric type, by category in the published order. */
export const METRICS: readonly Metric[] = CATEGORY_SLUGS.flatMap((category) =>
  TABLE[category].map((row) => toMetric(category, row)),
);

const byKey: ReadonlyMap<string, Metric> = new Map(METRICS.map((metric) => [metric.key, metric]));
const byName: ReadonlyMap<string, Metric> = new Map(
  METRICS.map((metric) => [normaliseName(metric.name), metric]),
);
const byCategory = Map.groupBy(METRICS, (metric) => metric.category);

function normaliseName(text: string): string {
  return text.replaceAll(/[ _-]/g, '').toLowerCase();
}

/** The metric type with this key. Throws RangeError for an unknown key, which is a programming error. */
export function getMetric(key: MetricKey): Metric {
  const metric = byKey.get(key);
  if (metric === undefined) throw new RangeError(`No metric type has the key '${key}'.`);
  return metric;
}

/** The metric type with this public name, ignoring case, spaces, `-` and `_`; null if there is none. */
export function findMetricByName(text: string): Metric | null {
  return byName.get(normaliseName(text)) ?? null;
}

/** The metric types of one category, i.e. those its endpoint may return. */
export function metricsOfCategory(category: Category): readonly Metric[] {
  return byCategory.get(category) ?? [];
}

/**
 * Rounds half away from zero in decimal, as people expect: 1.005 to two decimals is 1.01. Scaling by a power of ten would round the
 * binary value instead (1.005 * 100 is 100.49999999999999). Throws RangeError unless `value` is finite and `decimals` a
 * non-negative integer.
 */
export function roundToDecimals(value: number, decimals: number): number {
  if (!Number.isFinite(value)) throw new RangeError('Only a finite number can be rounded.');
  if (!Number.isInteger(decimals) || decimals < 0) throw new RangeError('Decimals are 0, 1, 2, ….');
  // Adding 0 turns -0 into 0.
  if (Number.isInteger(value)) return value + 0;
  const [mantissa = '', exponent = ''] = Math.abs(value).toExponential().split('e');
  const digits = mantissa.replace('.', '');
  const kept = Number(exponent) + 1 + decimals;
  if (kept >= digits.length) return value;
  if (kept < 0) return 0;
  const carry = digits.charAt(kept) >= '5' ? 1n : 0n;
  const rounded = Number(`${BigInt(digits.slice(0, kept)) + carry}e-${decimals}`);
  return value < 0 ? 0 - rounded : rounded;
}
