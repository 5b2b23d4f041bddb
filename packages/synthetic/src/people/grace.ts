import { EVERYDAY_DEVICES, type MedicalHistory, type Person } from '../person.ts';
import { appointment, careRecord, medication } from './rows.ts';

const history: MedicalHistory = {
  conditions: [
    { name: 'Essential hypertension', severity: 'moderate', sinceDate: '2009-04', source: 'ehr' },
    { name: 'Type 2 diabetes mellitus', severity: 'moderate', sinceDate: '2014-10-27', source: 'ehr' },
    { name: 'Osteoarthritis of the knee', severity: 'mild', sinceDate: '2018', source: 'ehr' },
  ],
  allergies: [
    { name: 'Shellfish', severity: 'severe', sinceDate: '1985', source: 'ehr' },
    { name: 'Latex', severity: 'mild', sinceDate: '', source: 'ehr' },
  ],
  medications: [
    medication(
      ['Metformin', '850 mg', 'Type 2 diabetes mellitus'],
      'BID',
      'with breakfast and dinner',
      6 * 60 + 45,
      18 * 60 + 30,
    ),
    medication(['Lisinopril', '10 mg', 'Essential hypertension'], 'QD', 'once a day', 7 * 60),
    medication(['Paracetamol', '500 mg', 'Osteoarthritis of the knee'], 'PRN', 'as needed'),
  ],
  symptoms: [
    { description: 'Knee pain on the stairs', severity: 'moderate', chance: 0.16 },
    { description: 'Dizzy when standing up', severity: 'mild', chance: 0.05 },
    { description: 'Tingling in both feet', severity: 'mild', chance: 0.04 },
  ],
  moods: [
    { mood: 'pleasant', note: 'The grandchildren came over.' },
    { mood: 'neutral', note: '' },
    { mood: 'slightlyPleasant', note: 'Choir practice.' },
    { mood: 'slightlyUnpleasant', note: 'Slept badly.' },
    { mood: 'veryUnpleasant', note: 'Knee kept me up all night.' },
  ],
  appointments: [
    appointment(-47, 9, 'Diabetes follow-up', 'Endocrinology', 'Riverside Clinic, New York'),
    appointment(-9, 14, 'Eye examination', 'Ophthalmology', 'Hudson Eye Center, New York'),
    appointment(6, 11, 'Physical therapy', 'Physical therapy', 'Upper West Side Rehab, New York'),
    appointment(44, 9, 'Diabetes follow-up', 'Endocrinology', 'Riverside Clinic, New York'),
  ],
  careRecords: [
    careRecord(-47, 'Observation', 'HbA1c', '7.1 % (54 mmol/mol)'),
    careRecord(-47, 'Encounter', 'Office visit, diabetes follow-up', 'metformin kept, walking advised'),
    careRecord(-9, 'DiagnosticReport', 'Retinal photographs', 'no retinopathy in either eye'),
    careRecord(-75, 'Immunization', 'Zoster vaccine, recombinant', 'second dose'),
  ],
  reports: true,
};

/** Retired, with treated high blood pressure and type 2 diabetes. */
export const GRACE: Person = {
  id: 'grace',
  profile: { name: 'Grace Miller', gender: 'female', dateOfBirth: '1957-11-02', bloodType: 'O-' },
  timeZone: 'America/New_York',
  trips: [],
  days: 90,
  life: {
    body: {
      restingHeartRate: 71,
      hrvMs: 24,
      systolic: 138,
      diastolic: 84,
      spo2: 95.9,
      breathsPerMinute: 16.4,
      glucose: 128,
      mealRise: 66,
      weightKg: 79.8,
      heightCm: 161.2,
      bodyFatPercent: 37.6,
    },
    habits: {
      wakesAt: 5 * 60 + 55,
      weekendLater: 15,
      sleepMinutes: 410,
      steps: 4_500,
      workouts: [
        { kind: 'walk', weekdays: [1, 3, 5], chance: 0.7, startsAt: 10 * 60, minutes: 35, effort: 0.4 },
        { kind: 'swim', weekdays: [2], chance: 0.6, startsAt: 15 * 60, minutes: 30, effort: 0.5 },
      ],
      lunchAt: 12 * 60,
      dinnerAt: 18 * 60 + 30,
    },
    devices: EVERYDAY_DEVICES,
  },
  entries: [],
  history,
};
