import type { MetricName } from '@phds/catalog/metrics';
import type { BloodType, Gender } from '@phds/catalog/wire-names';
import type { MedicalHistory } from './medical-history.ts';

/** A synthetic person: everything their data is made from. */
export interface Person {
  /** Name of the person on the command line, and of the user in the local stack. */
  readonly id: string;
  /** Null: nothing is known about them. */
  readonly profile: Profile | null;
  /** IANA zone they live in. */
  readonly timeZone: string;
  readonly trips: readonly Trip[];
  /** How many days of data they have unless asked otherwise. */
  readonly days: number;
  /** Null: nobody measures them. */
  readonly life: Life | null;
  /** What they typed in by hand. */
  readonly entries: readonly ManualEntry[];
  readonly history: MedicalHistory;
}

export interface Profile {
  readonly name: string;
  readonly gender: Gender;
  /** YYYY-MM-DD; absent when unknown. */
  readonly dateOfBirth?: string;
  readonly bloodType?: BloodType;
}

/** Days of every year spent in another zone; a trip stays within one month. */
export interface Trip {
  /** 1 to 12. */
  readonly month: number;
  readonly firstDay: number;
  readonly lastDay: number;
  readonly timeZone: string;
}

/** A value written down so many hours before the end of the data. */
export interface ManualEntry {
  readonly type: MetricName;
  readonly hoursAgo: number;
  readonly value: number;
}

export interface Life {
  readonly body: Body;
  readonly habits: Habits;
  readonly devices: Devices;
}

/** What the readings scatter around. */
export interface Body {
  /** Beats a minute, and milliseconds of SDNN. */
  readonly restingHeartRate: number;
  readonly hrvMs: number;
  readonly systolic: number;
  readonly diastolic: number;
  /** Per cent. */
  readonly spo2: number;
  /** In sleep. */
  readonly breathsPerMinute: number;
  /** mg/dL before a meal, how much an ordinary meal adds at its peak, and minutes until then. */
  readonly glucose: number;
  readonly mealRise: number;
  readonly mealPeak: number;
  readonly weightKg: number;
  readonly heightCm: number;
  readonly bodyFatPercent: number;
  /** 1 for the deep sleep of a young adult; it wanes with age. */
  readonly deepSleep: number;
}

export interface Habits {
  /** Minutes after midnight on a working day, and how much later on Saturdays and Sundays. */
  readonly wakesAt: number;
  readonly weekendLater: number;
  /** Minutes from falling asleep to waking up. */
  readonly sleepMinutes: number;
  /** Steps of an ordinary day besides workouts. */
  readonly steps: number;
  /** Whether they go to work and back on foot for a while. */
  readonly commutes: boolean;
  readonly workouts: readonly Workout[];
  /** Minutes after midnight of lunch and dinner; breakfast follows getting up. */
  readonly lunchAt: number;
  readonly dinnerAt: number;
  /** How often a planned dose is taken on a working day, 0 to 1. */
  readonly adherence: number;
}

export type WorkoutKind = 'run' | 'ride' | 'swim' | 'strength' | 'walk';

export interface Workout {
  readonly kind: WorkoutKind;
  /** 0 is Sunday. */
  readonly weekdays: readonly number[];
  /** How often it really happens, 0 to 1. */
  readonly chance: number;
  /** Minutes after midnight. */
  readonly startsAt: number;
  readonly minutes: number;
  /** Share of the heart rate reserve, 0 to 1. */
  readonly effort: number;
}

/** How densely the devices measure. */
export interface Devices {
  /** Seconds between heart rates, at rest and in workouts. */
  readonly heartRateSeconds: number;
  readonly workoutHeartRateSeconds: number;
  /** Minutes that one reading of steps, distance and active energy spans at most. */
  readonly activityMinutes: number;
  readonly basalMinutes: number;
  /** A sensor under the skin measures every so many minutes; null: finger pricks around meals. */
  readonly glucoseMinutes: number | null;
  /** Minutes between SpO2 and respiratory rates in sleep. */
  readonly sleepVitalsMinutes: number;
}
