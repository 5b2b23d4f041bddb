import type { JsonObject } from '../fhir/json-values.ts';
import type { Cells } from './tables.ts';

const AS_NEEDED = /\bprn\b|\b(?:as|if|when) needed\b/i;
interface Rhythm {
  readonly frequency: number;
  readonly period: number;
  readonly periodUnit: string;
}

/** Prescription abbreviations for rhythms. */
const RHYTHM_OF_WORD: ReadonlyMap<string, Rhythm> = new Map([
  ['QD', { frequency: 1, period: 1, periodUnit: 'd' }],
  ['BID', { frequency: 2, period: 1, periodUnit: 'd' }],
  ['TID', { frequency: 3, period: 1, periodUnit: 'd' }],
  ['QID', { frequency: 4, period: 1, periodUnit: 'd' }],
  ['QOD', { frequency: 1, period: 2, periodUnit: 'd' }],
  ...[1, 2, 3, 4, 6, 8, 12].map(
    (period) => [`Q${period}H`, { frequency: 1, period, periodUnit: 'h' }] as const,
  ),
]);
const UNIT_WORDS: ReadonlyMap<string, string> = new Map([
  ['[drp]', 'drops'],
  ['[in_us]', 'inch'],
]);

/** Converts a row of meds.txt. */
export function toMedicationRequest(cells: Cells<'meds'>, id: string): JsonObject {
  const instruction = cells('SIG');
  return {
    resourceType: 'MedicationRequest',
    id,
    medicationCodeableConcept: { text: cells('Name') },
    dosageInstruction: [
      {
        text: instruction,
        asNeededBoolean: AS_NEEDED.test(instruction),
        ...doseOf(cells),
        ...timingOf(cells, instruction),
      },
    ],
  };
}

function doseOf(cells: Cells<'meds'>): JsonObject {
  const value = Number(cells('Q_TO_TAKE_VALUE'));
  if (!(value > 0)) return {};
  const unit = cells('Q_TO_TAKE_UNIT');
  // UCUM encloses arbitrary units in braces: {tablet}.
  const words = UNIT_WORDS.get(unit) ?? /^\{(.+)\}$/.exec(unit)?.[1] ?? unit;
  return { doseAndRate: [{ doseQuantity: { value, unit: words } }] };
}

/** The rhythm from its columns, else from the one abbreviation in the instruction. */
function timingOf(cells: Cells<'meds'>, instruction: string): JsonObject {
  const frequency = Number(cells('FREQUENCY_VALUE'));
  const periodUnit = /^\/(s|min|h|d|wk|mo)$/.exec(cells('FREQUENCY_UNIT'))?.[1];
  if (frequency > 0 && periodUnit !== undefined)
    return { timing: { repeat: { frequency, period: 1, periodUnit } } };
  const words = instruction.toUpperCase().split(/[^A-Z\d-]+/);
  const [rhythm, ...others] = words.flatMap((word) => RHYTHM_OF_WORD.get(word) ?? []);
  return rhythm === undefined || others.length > 0 ? {} : { timing: { repeat: rhythm } };
}
