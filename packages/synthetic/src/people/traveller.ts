import { FULL_DEVICES, NO_HISTORY, type Person } from '../person.ts';
import { medication } from './rows.ts';

/** Always travelling: in some zones the clock changes at midnight, by half an hour, or on other dates than at home. */
export const TRAVELLER: Person = {
  id: 'traveller',
  profile: { name: 'Noah Lindqvist', gender: 'male', dateOfBirth: '1991-08-23', bloodType: 'B+' },
  timeZone: 'Europe/Berlin',
  trips: [
    { month: 1, firstDay: 12, lastDay: 20, timeZone: 'America/New_York' },
    { month: 2, firstDay: 9, lastDay: 17, timeZone: 'Asia/Tokyo' },
    { month: 3, firstDay: 5, lastDay: 16, timeZone: 'America/Havana' },
    { month: 4, firstDay: 1, lastDay: 12, timeZone: 'Australia/Lord_Howe' },
    { month: 5, firstDay: 11, lastDay: 19, timeZone: 'America/New_York' },
    { month: 6, firstDay: 8, lastDay: 18, timeZone: 'Asia/Kolkata' },
    { month: 7, firstDay: 13, lastDay: 24, timeZone: 'America/St_Johns' },
    { month: 8, firstDay: 10, lastDay: 18, timeZone: 'Asia/Kathmandu' },
    { month: 9, firstDay: 1, lastDay: 12, timeZone: 'America/Santiago' },
    { month: 10, firstDay: 12, lastDay: 20, timeZone: 'Asia/Tokyo' },
    { month: 11, firstDay: 2, lastDay: 12, timeZone: 'Pacific/Auckland' },
    { month: 12, firstDay: 7, lastDay: 15, timeZone: 'America/New_York' },
  ],
  days: 180,
  life: {
    body: {
      restingHeartRate: 55,
      hrvMs: 61,
      systolic: 121,
      diastolic: 76,
      spo2: 97.2,
      breathsPerMinute: 13.6,
      glucose: 90,
      mealRise: 42,
      weightKg: 78.6,
      heightCm: 183.1,
      bodyFatPercent: 17.8,
    },
    habits: {
      wakesAt: 7 * 60,
      weekendLater: 70,
      sleepMinutes: 430,
      steps: 7_600,
      workouts: [
        { kind: 'run', weekdays: [1, 3, 6], chance: 0.6, startsAt: 7 * 60 + 50, minutes: 35, effort: 0.72 },
        { kind: 'strength', weekdays: [2, 5], chance: 0.6, startsAt: 18 * 60, minutes: 45, effort: 0.5 },
      ],
      lunchAt: 13 * 60,
      dinnerAt: 20 * 60,
    },
    devices: FULL_DEVICES,
  },
  entries: [],
  history: {
    ...NO_HISTORY,
    conditions: [{ name: 'Motion sickness', severity: 'mild', sinceDate: '2005', source: 'manual' }],
    medications: [medication(['Melatonin', '2 mg', ''], 'BED', 'at bedtime', 22 * 60 + 30)],
    symptoms: [{ description: 'Jet lag', severity: 'mild', chance: 0.08 }],
    moods: [
      { mood: 'pleasant', note: 'Window seat.' },
      { mood: 'neutral', note: '' },
      { mood: 'unpleasant', note: 'Lost luggage.' },
    ],
  },
};
