import type { MetricName } from '@phds/catalog/metrics';
import type { BloodType, Gender, MedicationPattern, Mood, Severity } from '@phds/catalog/wire-names';

/** A synthetic person: the input of all generated data. */
export interface Person {
  /** User id in the local stack, and name at the sign-in of a sandbox. */
  readonly id: string;
  /** Null when nothing is known about them. */
  readonly profile: Profile | null;
  /** IANA. */
  readonly timeZone: string;
  /** Default number of days of data. */
  readonly days: number;
  /** Null for a person without devices. */
  readonly life: Life | null;
  /** Values entered by hand. */
  readonly entries: readonly ManualEntry[];
  readonly history: MedicalHistory;
}

interface Profile {
  readonly name: string;
  readonly gender: Gender;
  /** YYYY-MM-DD; absent when unknown. */
  readonly dateOfBirth?: string;
  readonly bloodType?: BloodType;
}

/** A value entered a number of hours before the end of the data. */
interface ManualEntry {
  readonly type: MetricName;
  readonly hoursAgo: number;
  readonly value: number;
}

export interface Life {
  readonly body: Body;
  readonly habits: Habits;
}

/** The means of the readings. */
interface Body {
  /** Beats a minute, and SDNN in milliseconds. */
  readonly restingHeartRate: number;
  readonly hrvMs: number;
  readonly systolic: number;
  readonly diastolic: number;
  /** Per cent. */
  readonly spo2: number;
  /** In sleep. */
  readonly breathsPerMinute: number;
  /** mg/dL before a meal, and the peak rise after it. */
  readonly glucose: number;
  readonly mealRise: number;
  readonly weightKg: number;
  readonly heightCm: number;
  readonly bodyFatPercent: number;
}

interface Habits {
  /** Minutes after midnight on a working day, and the delay on Saturdays and Sundays. */
  readonly wakesAt: number;
  readonly weekendLater: number;
  /** Minutes from falling asleep to waking up. */
  readonly sleepMinutes: number;
  /** Steps on an ordinary day, without workouts. */
  readonly steps: number;
  readonly workouts: readonly Workout[];
  /** Minutes after midnight of lunch and dinner; breakfast follows waking up. */
  readonly lunchAt: number;
  readonly dinnerAt: number;
}

export interface Workout {
  readonly kind: 'run' | 'swim' | 'walk';
  /** 0 is Sunday. */
  readonly weekdays: readonly number[];
  /** Probability that it takes place, 0 to 1. */
  readonly chance: number;
  /** Minutes after midnight. */
  readonly startsAt: number;
  readonly minutes: number;
  /** Share of the heart rate reserve, 0 to 1. */
  readonly effort: number;
}

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

interface StandingFact {
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
