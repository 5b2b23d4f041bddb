import type { MedicalHistory, Person } from '../person.ts';
import { EVERYDAY_DEVICES } from './devices.ts';

const history: MedicalHistory = {
  conditions: [
    { name: 'Asthma', severity: 'mild', sinceDate: '2003', source: 'ehr' },
    { name: 'Hypothyroidism', severity: 'moderate', sinceDate: '2016-09', source: 'ehr' },
    { name: 'Migraine without aura', severity: 'mild', sinceDate: '2021-02-18', source: 'ehr' },
  ],
  allergies: [
    { name: 'Birch pollen', severity: 'moderate', sinceDate: '1999', source: 'ehr' },
    { name: 'Penicillin', severity: 'severe', sinceDate: '2008-06-11', source: 'ehr' },
  ],
  medications: [
    {
      key: 'levothyroxine',
      name: 'Levothyroxine',
      dosage: '75 µg',
      frequency: 'once a day, before breakfast',
      condition: 'Hypothyroidism',
      pattern: 'QD',
      times: [6 * 60 + 45],
    },
    {
      key: 'budesonide',
      name: 'Budesonide inhaler',
      dosage: '200 µg',
      frequency: 'morning and evening',
      condition: 'Asthma',
      pattern: 'BID',
      times: [7 * 60, 21 * 60 + 30],
    },
    {
      key: 'salbutamol',
      name: 'Salbutamol inhaler',
      dosage: '100 µg',
      frequency: 'as needed',
      condition: 'Asthma',
      pattern: 'PRN',
      times: [],
    },
  ],
  symptoms: [
    { description: 'Headache behind the left eye', severity: 'moderate', chance: 0.06 },
    { description: 'Wheezing after the run', severity: 'mild', chance: 0.08 },
    { description: 'Runny nose, itching eyes', severity: 'mild', chance: 0.1 },
  ],
  moods: [
    { mood: 'pleasant', note: 'Long walk by the river.' },
    { mood: 'slightlyPleasant', note: '' },
    { mood: 'neutral', note: 'An ordinary day.' },
    { mood: 'slightlyUnpleasant', note: 'Too many meetings.' },
    { mood: 'veryPleasant', note: 'Finished the half marathon!' },
    { mood: 'unpleasant', note: 'Migraine all afternoon.' },
  ],
  appointments: [
    {
      title: 'Thyroid check',
      inDays: -62,
      hour: 8,
      specialty: 'Endocrinology',
      location: 'Praxis am Ostkreuz, Berlin',
    },
    {
      title: 'Lung function test',
      inDays: -21,
      hour: 10,
      specialty: 'Pulmonology',
      location: 'Lungenzentrum Mitte, Berlin',
    },
    {
      title: 'Dental cleaning',
      inDays: 12,
      hour: 16,
      specialty: 'Dentistry',
      location: 'Zahnarzt Kollwitzplatz, Berlin',
    },
    {
      title: 'Annual check-up',
      inDays: 34,
      hour: 9,
      specialty: 'General practice',
      location: 'Hausarztpraxis Prenzlauer Berg, Berlin',
    },
  ],
  careRecords: [
    {
      resourceType: 'Encounter',
      title: 'Office visit, endocrinology',
      finding: 'thyroid check, dose kept',
      inDays: -62,
    },
    { resourceType: 'Observation', title: 'TSH', finding: '2.1 mU/L (reference 0.4 to 4.0)', inDays: -61 },
    {
      resourceType: 'DiagnosticReport',
      title: 'Spirometry',
      finding: 'FEV1 92 % of predicted, mild reversible obstruction',
      inDays: -21,
    },
    {
      resourceType: 'Immunization',
      title: 'Influenza vaccine',
      finding: 'quadrivalent, left arm',
      inDays: -40,
    },
    {
      resourceType: 'Procedure',
      title: 'Skin prick test',
      finding: 'birch positive, grass negative',
      inDays: -300,
    },
  ],
  reports: true,
};

/** An office worker who runs and sleeps well, with mild asthma. */
export const ADA: Person = {
  id: 'ada',
  profile: { name: 'Ada Sommer', gender: 'female', dateOfBirth: '1987-03-14', bloodType: 'A+' },
  timeZone: 'Europe/Berlin',
  trips: [],
  days: 90,
  life: {
    body: {
      restingHeartRate: 58,
      hrvMs: 52,
      systolic: 114,
      diastolic: 73,
      spo2: 97.6,
      breathsPerMinute: 14.2,
      glucose: 86,
      mealRise: 38,
      mealPeak: 45,
      weightKg: 64.2,
      heightCm: 168.4,
      bodyFatPercent: 25.3,
      deepSleep: 0.9,
    },
    habits: {
      wakesAt: 6 * 60 + 30,
      weekendLater: 55,
      sleepMinutes: 455,
      steps: 8_100,
      commutes: true,
      workouts: [
        { kind: 'run', weekdays: [2, 4], chance: 0.7, startsAt: 18 * 60, minutes: 42, effort: 0.74 },
        { kind: 'run', weekdays: [0], chance: 0.75, startsAt: 10 * 60, minutes: 65, effort: 0.68 },
      ],
      lunchAt: 12 * 60 + 30,
      dinnerAt: 19 * 60 + 20,
      adherence: 0.94,
    },
    devices: EVERYDAY_DEVICES,
  },
  entries: [],
  history,
};
