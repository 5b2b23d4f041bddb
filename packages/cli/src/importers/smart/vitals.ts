import type { JsonObject } from '../fhir/json-values.ts';
import { Refused } from '../ingest/refused.ts';
import type { Cells, ColumnOf } from './tables.ts';

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
export function toObservations(cells: Cells<'vitals'>, id: string): (JsonObject | Refused)[] {
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
