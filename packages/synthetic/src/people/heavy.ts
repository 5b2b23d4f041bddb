import { DENSE_DEVICES, NO_HISTORY, type Person, type Workout } from '../person.ts';

const workouts: readonly Workout[] = [
  { kind: 'swim', weekdays: [1, 3, 5], chance: 0.9, startsAt: 6 * 60 + 45, minutes: 50, effort: 0.65 },
  { kind: 'run', weekdays: [1, 2, 4, 5], chance: 0.95, startsAt: 17 * 60 + 30, minutes: 70, effort: 0.72 },
  { kind: 'strength', weekdays: [2, 4], chance: 0.8, startsAt: 6 * 60 + 50, minutes: 40, effort: 0.5 },
  { kind: 'ride', weekdays: [0, 6], chance: 0.9, startsAt: 9 * 60, minutes: 190, effort: 0.6 },
];

/** Trains daily and measures everything, for large amounts of data. */
export const HEAVY: Person = {
  id: 'heavy',
  profile: { name: 'Hanna Vogel', gender: 'female', dateOfBirth: '1994-01-30', bloodType: 'O+' },
  timeZone: 'Europe/Vienna',
  trips: [],
  days: 365,
  life: {
    body: {
      restingHeartRate: 46,
      hrvMs: 84,
      systolic: 110,
      diastolic: 68,
      spo2: 97.1,
      breathsPerMinute: 12.8,
      glucose: 88,
      mealRise: 40,
      weightKg: 59.4,
      heightCm: 171.2,
      bodyFatPercent: 18.6,
    },
    habits: {
      wakesAt: 5 * 60 + 50,
      weekendLater: 30,
      sleepMinutes: 480,
      steps: 9_500,
      workouts,
      lunchAt: 12 * 60 + 15,
      dinnerAt: 19 * 60 + 45,
    },
    devices: DENSE_DEVICES,
  },
  entries: [],
  history: {
    ...NO_HISTORY,
    medications: [
      {
        key: 'iron',
        name: 'Ferrous sulfate',
        dosage: '80 mg',
        frequency: 'every other day',
        condition: 'Iron deficiency',
        pattern: 'QOD',
        times: [8 * 60],
      },
    ],
    conditions: [{ name: 'Iron deficiency', severity: 'mild', sinceDate: '2024-05', source: 'ehr' }],
    moods: [
      { mood: 'pleasant', note: 'Good legs.' },
      { mood: 'slightlyUnpleasant', note: 'Heavy legs.' },
      { mood: 'neutral', note: '' },
    ],
  },
};
