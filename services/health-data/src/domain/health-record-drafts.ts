import type { HealthRecordKind } from './health-records.ts';

/** Records before validation: empty strings mean unknown. */
export interface HealthRecordDraftTypes {
  readonly symptom: {
    readonly description: string;
    readonly severity: string;
    readonly timestamp: Date | null;
  };
  readonly medication: {
    readonly name: string;
    readonly dosage: string;
    readonly frequency: string;
    readonly condition: string;
    readonly pattern: string;
  };
  readonly 'adherence-entry': {
    readonly medicationKey: string;
    readonly scheduledAt: Date | null;
    readonly status: string;
    readonly takenAt: Date | null;
    readonly dose: string;
    readonly reason: string;
  };
  readonly condition: StandingFactDraft;
  readonly allergy: StandingFactDraft;
  readonly appointment: {
    readonly title: string;
    readonly dateTime: string;
    readonly specialty: string;
    readonly location: string;
  };
  readonly 'mood-entry': { readonly mood: string; readonly note: string; readonly timestamp: Date | null };
  readonly report: {
    readonly generatedAt: Date | null;
    readonly from: string;
    readonly to: string;
    readonly summary: string;
  };
  readonly 'ehr-record': {
    readonly resourceType: string;
    readonly summary: string;
    readonly timestamp: Date | null;
  };
}

export interface StandingFactDraft {
  readonly name: string;
  readonly severity: string;
  readonly sinceDate: string;
}

/** One record of a batch with its natural key; `kind` is null for a record without content. */
export type HealthRecordDraft = { readonly key: string; readonly source: string } & (
  | {
      [Kind in HealthRecordKind]: { readonly kind: Kind; readonly fields: HealthRecordDraftTypes[Kind] };
    }[HealthRecordKind]
  | { readonly kind: null }
);
