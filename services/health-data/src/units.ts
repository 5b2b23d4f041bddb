import type { Metric } from '@phds/catalog/metrics';

// Our own table instead of a UCUM library: `@lhncbc/ucum-lhc` has megabytes of definitions for the dozen dimensions used here,
// refuses spellings in real files (`Cal`, `bpm`, `degF`, HealthKit's `count`), and cannot convert mg/dL to mmol/L without the molar
// mass anyway.

/** A factor or a function that converts to the unit that names the block. */
type Conversion = number | ((value: number) => number);

const RATE: Record<string, Conversion> = {
  '/min': 1,
  '1/min': 1,
  'count/min': 1,
  'beats/min': 1,
  'breaths/min': 1,
  bpm: 1,
  '/s': 60,
  Hz: 60,
};

const DURATION: Record<string, Conversion> = { min: 1, ms: 1 / 60_000, s: 1 / 60, h: 60, hr: 60, d: 1440 };

const COUNT: Record<string, Conversion> = { count: 1, '1': 1 };

const MG_PER_DL_IN_MMOL_PER_L = 18.0156;
const KCAL_IN_KJ = 1 / 4.184;

// By the catalog's unit, then by the given unit.
const CONVERSIONS: Readonly<Record<string, Record<string, Conversion>>> = {
  '/min': RATE,
  ms: { ms: 1, s: 1000 },
  'mm[Hg]': { 'mm[Hg]': 1, mmHg: 1, 'mm Hg': 1, kPa: 7.500_615_758 },
  '%': { '%': fractionToPercent, '1': 100 },
  'mg/dL': {
    'mg/dL': 1,
    'mg/dl': 1,
    'g/L': 100,
    'mmol/L': MG_PER_DL_IN_MMOL_PER_L,
    'mmol/l': MG_PER_DL_IN_MMOL_PER_L,
  },
  Cel: {
    Cel: 1,
    degC: 1,
    '°C': 1,
    K: (kelvin) => kelvin - 273.15,
    '[degF]': fahrenheitToCelsius,
    degF: fahrenheitToCelsius,
    '°F': fahrenheitToCelsius,
  },
  '{steps}': { ...COUNT, steps: 1 },
  '{flights}': { ...COUNT, flights: 1 },
  m: { m: 1, cm: 0.01, km: 1000, mi: 1609.344, '[mi_i]': 1609.344, ft: 0.3048, '[ft_i]': 0.3048, yd: 0.9144 },
  // Apple's `Cal` is the large calorie, UCUM's `cal` the small one.
  kcal: { kcal: 1, Cal: 1, '[Cal]': 1, cal: 0.001, kJ: KCAL_IN_KJ, J: KCAL_IN_KJ / 1000 },
  min: DURATION,
  kg: { kg: 1, g: 0.001, lb: 0.453_592_37, lbs: 0.453_592_37, '[lb_av]': 0.453_592_37, st: 6.350_293_18 },
  cm: { cm: 1, mm: 0.1, m: 100, in: 2.54, '[in_i]': 2.54, ft: 30.48, '[ft_i]': 30.48 },
  'kg/m2': { 'kg/m2': 1, 'kg/m^2': 1, count: 1 },
};

/**
 * Converts a value to the unit of the metric type, unrounded; null if the unit does not measure this type. An empty unit means the
 * type's own. Accepts UCUM and the spellings of CONVERSIONS. Case-sensitive, like UCUM.
 */
export function convertToMetricUnit(metric: Metric, value: number, unit: string): number | null {
  const conversions = CONVERSIONS[metric.unit] ?? {};
  const spelling = toSpelling(unit === '' ? metric.unit : unit);
  if (!Object.hasOwn(conversions, spelling)) return null;
  const conversion = conversions[spelling] ?? 1;
  return typeof conversion === 'number' ? value * conversion : conversion(value);
}

/** Removes what says nothing about the quantity: UCUM's annotations in braces, and the molar mass of glucose, which HealthKit rounds differently. */
function toSpelling(unit: string): string {
  const spelling = unit.replaceAll(/\{[^{}]*\}/g, '').trim();
  return spelling === '' ? '1' : spelling.replace(/^mmol<180(?:\.\d+)?>/, 'mmol');
}

/** Real exports contain percentages as 0–1 or 0–100, so a value of at most 1 is a fraction. */
function fractionToPercent(value: number): number {
  return value <= 1 ? value * 100 : value;
}

function fahrenheitToCelsius(fahrenheit: number): number {
  return ((fahrenheit - 32) * 5) / 9;
}
