import type { JsonObject } from '../fhir/json-values.ts';
import type { Cells } from './tables.ts';

/** Converts a row of patients.txt. Addresses, telephone numbers, race and gestation are ignored. */
export function toPatient(cells: Cells<'patients'>): JsonObject {
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
export function toCondition(cells: Cells<'problems'>, id: string): JsonObject {
  return {
    resourceType: 'Condition',
    id,
    code: concept(cells('NAME'), SNOMED, cells('SNOMED')),
    onsetDateTime: cells('START_DATE'),
  };
}

/** Converts a row of allergies.txt. */
export function toAllergy(cells: Cells<'allergies'>, id: string): JsonObject {
  return {
    resourceType: 'AllergyIntolerance',
    id,
    code: { text: cells('ALLERGEN') },
    onsetDateTime: cells('START_DATE'),
    reaction: [{ manifestation: [{ text: cells('REACTION') }], severity: cells('SEVERITY') }],
  };
}

/** Whether a row of allergies.txt states that there is no allergy. */
export function deniesAllergy(cells: Cells<'allergies'>): boolean {
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
export function toDispense(cells: Cells<'refills'>, id: string): JsonObject {
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
