import { type CareRecord, type MedicalHistory, type Medication, NO_HISTORY, type Person } from './person.ts';

/** The key is the first word of the name. Times are minutes after local midnight; none for as-needed. */
function medication(
  [name, dosage, condition]: readonly [name: string, dosage: string, condition: string],
  pattern: Medication['pattern'],
  frequency: string,
  ...times: number[]
): Medication {
  const key = name.split(' ')[0]?.toLowerCase() ?? '';
  return { key, name, dosage, frequency, condition, pattern, times };
}

function appointment(
  inDays: number,
  hour: number,
  title: string,
  specialty: string,
  location: string,
): MedicalHistory['appointments'][number] {
  return { title, inDays, hour, specialty, location };
}

function careRecord(
  inDays: number,
  resourceType: CareRecord['resourceType'],
  title: string,
  finding: string,
): CareRecord {
  return { resourceType, title, finding, inDays };
}

const ADA_HISTORY: MedicalHistory = {
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
  },
  entries: [],
  history: ADA_HISTORY,
};

const GRACE_HISTORY: MedicalHistory = {
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
  },
  entries: [],
  history: GRACE_HISTORY,
};

/** Two categories and one condition, all entered by hand. */
export const SPARSE: Person = {
  id: 'sparse',
  profile: { name: 'Sam Reed', gender: 'other' },
  timeZone: 'Asia/Tokyo',
  days: 10,
  life: null,
  entries: [
    { type: 'Heart Rate', hoursAgo: 218, value: 81 },
    { type: 'Heart Rate', hoursAgo: 75, value: 68 },
    { type: 'Heart Rate', hoursAgo: 2, value: 74 },
    { type: 'Weight', hoursAgo: 200, value: 71.9 },
    { type: 'Weight', hoursAgo: 30, value: 71.4 },
  ],
  history: {
    ...NO_HISTORY,
    conditions: [{ name: 'Hay fever', severity: '', sinceDate: '2012', source: 'manual' }],
  },
};

/** No data, not even a profile. */
export const EMPTY: Person = {
  id: 'empty',
  profile: null,
  timeZone: 'UTC',
  days: 1,
  life: null,
  entries: [],
  history: NO_HISTORY,
};

/** The person with this name; null if there is none. */
export function findPerson(id: string): Person | null {
  return [ADA, GRACE, SPARSE, EMPTY].find((person) => person.id === id) ?? null;
}
