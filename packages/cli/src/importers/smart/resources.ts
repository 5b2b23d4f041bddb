import type { JsonObject } from '../fhir/json-values.ts';
import type { Refused } from '../ingest/refused.ts';
import { deniesAllergy, toAllergy, toCondition, toDispense, toPatient } from './clinical-rows.ts';
import { toMedicationRequest } from './medications.ts';
import type { AnyCells, Cells, TableName } from './tables.ts';
import { toObservations } from './vitals.ts';

/** The content of a row: FHIR resources, each of which may be refused, or the reason for skipping the row. */
export type RowContent =
  | { readonly resources: readonly (JsonObject | Refused)[] }
  | { readonly leftOut: string };

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
