import type { MedicationPattern, Mood, Severity } from '@phds/catalog/wire-names';

/** What the person reports and doctors record, i.e. everything that no device measures. */
export interface MedicalHistory {
  readonly conditions: readonly StandingFact[];
  readonly allergies: readonly StandingFact[];
  readonly medications: readonly Medication[];
  /** Intermittent symptoms with their probability on a day. */
  readonly symptoms: readonly {
    readonly description: string;
    readonly severity: Severity;
    readonly chance: number;
  }[];
  readonly moods: readonly { readonly mood: Mood; readonly note: string }[];
  /** The day relative to the last day of the data (negative is past), and the hour of that local day. */
  readonly appointments: readonly {
    readonly title: string;
    readonly inDays: number;
    readonly hour: number;
    readonly specialty: string;
    readonly location: string;
  }[];
  readonly careRecords: readonly CareRecord[];
  /** Whether a report is created every thirty days. */
  readonly reports: boolean;
}

export interface StandingFact {
  readonly name: string;
  readonly severity: Severity | '';
  /** YYYY, YYYY-MM, YYYY-MM-DD or empty. */
  readonly sinceDate: string;
  /** Where the information comes from. */
  readonly source: 'ehr' | 'manual';
}

export interface Medication {
  readonly key: string;
  readonly name: string;
  readonly dosage: string;
  readonly frequency: string;
  readonly condition: string;
  readonly pattern: MedicationPattern;
  /** Minutes after local midnight; empty for as-needed. */
  readonly times: readonly number[];
}

/** An entry of the patient's record. */
export interface CareRecord {
  readonly resourceType: 'Encounter' | 'Observation' | 'DiagnosticReport' | 'Immunization' | 'Procedure';
  readonly title: string;
  readonly finding: string;
  readonly inDays: number;
}

/** An empty history. */
export const NO_HISTORY: MedicalHistory = {
  conditions: [],
  allergies: [],
  medications: [],
  symptoms: [],
  moods: [],
  appointments: [],
  careRecords: [],
  reports: false,
};
