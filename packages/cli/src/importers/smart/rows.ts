import type { JsonObject } from '../fhir/json-values.ts';
import { Refused } from '../ingest/importer.ts';
import type { AnyCells, Cells, ColumnOf, TableName } from './tables.ts';

/** Converts a row of patients.txt. Addresses, telephone numbers, race and gestation are ignored. */
function toPatient(cells: Cells<'patients'>): JsonObject {
  const name = { given: [cells('fname'), cells('initial')], family: cells('lname') };
  return {
    resourceType: 'Patient',
    id: cells('PID'),
    name: [name],
    gender: cells('gender'),
    birthDate: cells('dob'),
  };
}

/** Converts a row of problems.txt. */
function toCondition(cells: Cells<'problems'>, id: string): JsonObject {
  return {
    resourceType: 'Condition',
    id,
    code: concept(cells('NAME'), SNOMED, cells('SNOMED')),
    onsetDateTime: cells('START_DATE'),
  };
}

/** Converts a row of allergies.txt. */
function toAllergy(cells: Cells<'allergies'>, id: string): JsonObject {
  return {
    resourceType: 'AllergyIntolerance',
    id,
    code: { text: cells('ALLERGEN') },
    onsetDateTime: cells('START_DATE'),
    reaction: [{ manifestation: [{ text: cells('REACTION') }], severity: cells('SEVERITY') }],
  };
}

/** Whether a row of allergies.txt states that there is no allergy. */
function deniesAllergy(cells: Cells<'allergies'>): boolean {
  return cells('STATEMENT').toLowerCase() === 'negative';
}

/** The medication in a row of meds.txt, for refills, which contain only its code; null without a code. */
export function toMedicine(cells: Cells<'meds'>): JsonObject | null {
  const code = cells('RxNorm');
  return code === '' ? null : { resourceType: 'Medication', id: code, code: { text: cells('Name') } };
}

/**
 * Converts a row of refills.txt: the pharmacy dispensed a medication. This is not adherence, because it is unknown whether the
 * person took it.
 */
function toDispense(cells: Cells<'refills'>, id: string): JsonObject {
  const code = cells('RXN');
  const [quantity, days] = [positive(cells('Q')), positive(cells('DAYS'))];
  return {
    resourceType: 'MedicationDispense',
    id,
    medicationReference: { reference: `Medication/${code}`, display: code === '' ? '' : `RxNorm ${code}` },
    whenHandedOver: cells('DATE'),
    ...(quantity === null ? {} : { quantity: { value: quantity } }),
    ...(days === null ? {} : { daysSupply: { value: days, unit: 'days', code: 'd' } }),
  };
}

const SNOMED = 'http://snomed.info/sct';

function concept(text: string, system: string, code: string): JsonObject {
  return { text, coding: code === '' ? [] : [{ system, code }] };
}

/** The tables contain 0 for unknown numbers. */
function positive(text: string): number | null {
  const value = /^\d{1,6}(\.\d+)?$/.test(text) ? Number(text) : 0;
  return value > 0 ? value : null;
}

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
function toMedicationRequest(cells: Cells<'meds'>, id: string): JsonObject {
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

interface Measure {
  readonly column: ColumnOf<'vitals'>;
  readonly loinc: string;
  readonly name: string;
  /** UCUM unit; the tables do not contain units. */
  readonly unit: string;
}

const MEASURES: readonly Measure[] = [
  { column: 'HEART_RATE', loinc: '8867-4', name: 'Heart rate', unit: '/min' },
  { column: 'RESPIRATORY_RATE', loinc: '9279-1', name: 'Respiratory rate', unit: '/min' },
  { column: 'TEMPERATURE', loinc: '8310-5', name: 'Body temperature', unit: 'Cel' },
  { column: 'WEIGHT', loinc: '29463-7', name: 'Body weight', unit: 'kg' },
  { column: 'HEIGHT', loinc: '8302-2', name: 'Body height', unit: 'cm' },
  { column: 'BMI', loinc: '39156-5', name: 'Body mass index', unit: 'kg/m2' },
  { column: 'SYSTOLIC', loinc: '8480-6', name: 'Systolic blood pressure', unit: 'mm[Hg]' },
  { column: 'DIASTOLIC', loinc: '8462-4', name: 'Diastolic blood pressure', unit: 'mm[Hg]' },
  { column: 'OXYGEN_SATURATION', loinc: '59408-5', name: 'Oxygen saturation', unit: '%' },
  { column: 'HEAD_CIRCUMFERENCE', loinc: '9843-4', name: 'Head circumference', unit: 'cm' },
];

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)$/;

/** Converts one row of vitals.txt: one observation, or the reason for refusing it, for each non-empty column. */
function toObservations(cells: Cells<'vitals'>, id: string): (JsonObject | Refused)[] {
  return MEASURES.filter(({ column }) => cells(column) !== '').map((measure) => {
    const { column, loinc, name, unit } = measure;
    const text = cells(column);
    if (!NUMBER.test(text)) return new Refused(`${column} is not a number`);
    return {
      resourceType: 'Observation',
      id: id === '' ? '' : `${id}-${loinc}`,
      status: 'final',
      code: { text: name, coding: [{ system: 'http://loinc.org', code: loinc }] },
      effectiveDateTime: toInstant(cells('TIMESTAMP')),
      valueQuantity: { value: Number(text), unit, code: unit },
    };
  });
}

/**
 * Times have no offset and are in UTC: the END_DATE of a row is the end of its day and contains 04:59:59, which is midnight at the
 * tables' origin.
 */
function toInstant(text: string): string {
  return /T\d\d:\d\d(:\d\d)?$/.test(text) ? `${text}Z` : text;
}

/** The content of a row: FHIR resources, each of which may be refused, or the reason for skipping the row. */
type RowContent = { readonly resources: readonly (JsonObject | Refused)[] } | { readonly leftOut: string };

type ToContent<Name extends TableName> = (cells: Cells<Name>, id: string) => RowContent;

const CONTENTS: { readonly [Name in TableName]: ToContent<Name> } = {
  patients: (cells) => ({ resources: [toPatient(cells)] }),
  problems: (cells, id) => ({ resources: [toCondition(cells, id)] }),
  allergies: (cells, id) =>
    deniesAllergy(cells)
      ? { leftOut: 'states that there is no allergy' }
      : { resources: [toAllergy(cells, id)] },
  meds: (cells, id) => ({ resources: [toMedicationRequest(cells, id)] }),
  refills: (cells, id) => ({ resources: [toDispense(cells, id)] }),
  vitals: (cells, id) => {
    const resources = toObservations(cells, id);
    return resources.length === 0 ? { leftOut: 'holds no measurement that is imported' } : { resources };
  },
};

/**
 * Converts a row to FHIR resources, so that tables are mapped by the same rules as FHIR input. Their ids contain the table, because
 * row numbers are meaningless outside it.
 */
export function toContent(name: TableName, cells: AnyCells): RowContent {
  const [patient, row] = [cells('PID'), cells('ID')];
  return CONTENTS[name](cells, row === '' ? '' : `smart-${patient}-${row}`);
}
