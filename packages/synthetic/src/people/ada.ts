import { EVERYDAY_DEVICES, type MedicalHistory, type Person } from '../person.ts';
import { appointment, careRecord, medication } from './rows.ts';

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
    medication(
      ['Levothyroxine', '75 µg', 'Hypothyroidism'],
      'QD',
      'once a day, before breakfast',
      6 * 60 + 45,
    ),
    medication(
      ['Budesonide inhaler', '200 µg', 'Asthma'],
      'BID',
      'morning and evening',
      7 * 60,
      21 * 60 + 30,
    ),
    medication(['Salbutamol inhaler', '100 µg', 'Asthma'], 'PRN', 'as needed'),
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
    appointment(-62, 8, 'Thyroid check', 'Endocrinology', 'Praxis am Ostkreuz, Berlin'),
    appointment(-21, 10, 'Lung function test', 'Pulmonology', 'Lungenzentrum Mitte, Berlin'),
    appointment(12, 16, 'Dental cleaning', 'Dentistry', 'Zahnarzt Kollwitzplatz, Berlin'),
    appointment(34, 9, 'Annual check-up', 'General practice', 'Hausarztpraxis Prenzlauer Berg, Berlin'),
  ],
  careRecords: [
    careRecord(-62, 'Encounter', 'Office visit, endocrinology', 'thyroid check, dose kept'),
    careRecord(-61, 'Observation', 'TSH', '2.1 mU/L (reference 0.4 to 4.0)'),
    careRecord(-21, 'DiagnosticReport', 'Spirometry', 'FEV1 92 % of predicted, mild reversible obstruction'),
    careRecord(-40, 'Immunization', 'Influenza vaccine', 'quadrivalent, left arm'),
    careRecord(-300, 'Procedure', 'Skin prick test', 'birch positive, grass negative'),
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
      weightKg: 64.2,
      heightCm: 168.4,
      bodyFatPercent: 25.3,
    },
    habits: {
      wakesAt: 6 * 60 + 30,
      weekendLater: 55,
      sleepMinutes: 455,
      steps: 8_100,
      workouts: [
        { kind: 'run', weekdays: [2, 4], chance: 0.7, startsAt: 18 * 60, minutes: 42, effort: 0.74 },
        { kind: 'run', weekdays: [0], chance: 0.75, startsAt: 10 * 60, minutes: 65, effort: 0.68 },
      ],
      lunchAt: 12 * 60 + 30,
      dinnerAt: 19 * 60 + 20,
    },
    devices: EVERYDAY_DEVICES,
  },
  entries: [],
  history,
};
