import { EVERYDAY_DEVICES, type MedicalHistory, type Person } from '../person.ts';

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
    {
      key: 'metformin',
      name: 'Metformin',
      dosage: '850 mg',
      frequency: 'with breakfast and dinner',
      condition: 'Type 2 diabetes mellitus',
      pattern: 'BID',
      times: [6 * 60 + 45, 18 * 60 + 30],
    },
    {
      key: 'lisinopril',
      name: 'Lisinopril',
      dosage: '10 mg',
      frequency: 'once a day',
      condition: 'Essential hypertension',
      pattern: 'QD',
      times: [7 * 60],
    },
    {
      key: 'paracetamol',
      name: 'Paracetamol',
      dosage: '500 mg',
      frequency: 'as needed',
      condition: 'Osteoarthritis of the knee',
      pattern: 'PRN',
      times: [],
    },
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
    {
      title: 'Diabetes follow-up',
      inDays: -47,
      hour: 9,
      specialty: 'Endocrinology',
      location: 'Riverside Clinic, New York',
    },
    {
      title: 'Eye examination',
      inDays: -9,
      hour: 14,
      specialty: 'Ophthalmology',
      location: 'Hudson Eye Center, New York',
    },
    {
      title: 'Physical therapy',
      inDays: 6,
      hour: 11,
      specialty: 'Physical therapy',
      location: 'Upper West Side Rehab, New York',
    },
    {
      title: 'Diabetes follow-up',
      inDays: 44,
      hour: 9,
      specialty: 'Endocrinology',
      location: 'Riverside Clinic, New York',
    },
  ],
  careRecords: [
    { resourceType: 'Observation', title: 'HbA1c', finding: '7.1 % (54 mmol/mol)', inDays: -47 },
    {
      resourceType: 'Encounter',
      title: 'Office visit, diabetes follow-up',
      finding: 'metformin kept, walking advised',
      inDays: -47,
    },
    {
      resourceType: 'DiagnosticReport',
      title: 'Retinal photographs',
      finding: 'no retinopathy in either eye',
      inDays: -9,
    },
    {
      resourceType: 'Immunization',
      title: 'Zoster vaccine, recombinant',
      finding: 'second dose',
      inDays: -75,
    },
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
      mealPeak: 65,
      weightKg: 79.8,
      heightCm: 161.2,
      bodyFatPercent: 37.6,
      deepSleep: 0.5,
    },
    habits: {
      wakesAt: 5 * 60 + 55,
      weekendLater: 15,
      sleepMinutes: 410,
      steps: 4_500,
      commutes: false,
      workouts: [
        { kind: 'walk', weekdays: [1, 3, 5], chance: 0.7, startsAt: 10 * 60, minutes: 35, effort: 0.4 },
        { kind: 'swim', weekdays: [2], chance: 0.6, startsAt: 15 * 60, minutes: 30, effort: 0.5 },
      ],
      lunchAt: 12 * 60,
      dinnerAt: 18 * 60 + 30,
      adherence: 0.9,
    },
    devices: EVERYDAY_DEVICES,
  },
  entries: [],
  history,
};
