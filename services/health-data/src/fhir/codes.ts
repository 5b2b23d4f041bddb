import { SEVERITY_CODES, SNOMED } from '@phds/catalog/fhir/code-systems';
import type { Severity } from '@phds/catalog/wire-names';

// Parts of resources that several types share.

/** A CodeableConcept of one code. */
export function codeableOf(system: string, code: string, display?: string) {
  return { coding: [display === undefined ? { system, code } : { system, code, display }] };
}

/** The attribute whose values are severities. */
export const SEVERITY = codeableOf(SNOMED, '246112005', 'Severity');

const SEVERITIES = {
  mild: codeableOf(SNOMED, SEVERITY_CODES.mild, 'Mild'),
  moderate: codeableOf(SNOMED, SEVERITY_CODES.moderate, 'Moderate'),
  severe: codeableOf(SNOMED, SEVERITY_CODES.severe, 'Severe'),
};

export function severityOf(severity: Severity) {
  return SEVERITIES[severity];
}

/** In place of a value that is required, or asked for, and not known. */
export const UNKNOWN = {
  extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/data-absent-reason', valueCode: 'unknown' }],
};
