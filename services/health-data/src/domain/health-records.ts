import type { AdherenceStatus, MedicationPattern, Mood, Severity } from '@phds/catalog/wire-names';

/** The stored resources other than readings; null is unknown. */
export interface HealthRecordTypes {
  readonly symptom: Symptom;
  readonly medication: Medication;
  readonly 'adherence-entry': AdherenceEntry;
  readonly condition: StandingFact;
  readonly allergy: StandingFact;
  readonly appointment: Appointment;
  readonly 'mood-entry': MoodEntry;
  readonly report: Report;
  readonly 'ehr-record': EhrRecord;
}

export type HealthRecordKind = keyof HealthRecordTypes;

/** A record with the id of its row. */
export type Stored<Kind extends HealthRecordKind> = HealthRecordTypes[Kind] & { readonly id: string };

export interface Symptom {
  readonly description: string;
  readonly severity: Severity | null;
  readonly occurredAt: Date;
}

export interface Medication {
  readonly name: string;
  /** The name in lower case, for ordering. */
  readonly sortName: string;
  readonly dosage: string | null;
  readonly frequency: string | null;
  readonly condition: string | null;
  readonly pattern: MedicationPattern | null;
}

export interface AdherenceEntry {
  readonly medicationId: string;
  /** The time that counts for a dose: scheduled, or taken for an as-needed one. */
  readonly at: Date;
  readonly scheduledAt: Date | null;
  readonly status: AdherenceStatus;
  readonly takenAt: Date | null;
  readonly dose: string | null;
  readonly reason: string | null;
}

/** A condition or an allergy. */
export interface StandingFact {
  readonly name: string;
  readonly severity: Severity | null;
  /** `2019`, `2019-05` or `2019-05-04`. */
  readonly sinceDate: string | null;
  /** The first day of `sinceDate`, as midnight UTC. */
  readonly sinceOn: Date | null;
}

export interface Appointment {
  readonly title: string;
  readonly startsAt: Date;
  /** The offset that it was made in and is returned in. */
  readonly offsetMinutes: number;
  readonly specialty: string | null;
  readonly location: string | null;
}

export interface MoodEntry {
  readonly mood: Mood;
  readonly note: string | null;
  readonly occurredAt: Date;
}

export interface Report {
  readonly generatedAt: Date;
  /** Inclusive dates, as midnights UTC. */
  readonly rangeFrom: Date;
  readonly rangeTo: Date;
  readonly summary: string;
}

export interface EhrRecord {
  readonly resourceType: string;
  readonly summary: string;
  readonly occurredAt: Date;
}

/** One weight for each local day, from the Weight readings. */
export interface WeightEntry {
  /** Id of the reading. */
  readonly id: string;
  readonly weightKg: number;
  /** YYYY-MM-DD in the user's zone. */
  readonly date: string;
}
