/** What a person tells a doctor: everything that is not measured. */
export interface MedicalHistory {
  readonly conditions: readonly StandingFact[];
  readonly allergies: readonly StandingFact[];
  readonly medications: readonly SeedMedication[];
  /** Symptoms that come and go, with how likely each is on a day. */
  readonly symptoms: readonly {
    readonly description: string;
    readonly severity: string;
    readonly chance: number;
  }[];
  readonly moods: readonly { readonly mood: string; readonly note: string }[];
  /** Appointments, counted in days from today (negative is past) at an hour of the local day. */
  readonly appointments: readonly {
    readonly title: string;
    readonly inDays: number;
    readonly hour: number;
    readonly specialty: string;
    readonly location: string;
  }[];
  readonly ehr: readonly {
    readonly resourceType: string;
    readonly summary: string;
    readonly inDays: number;
  }[];
}

export interface StandingFact {
  readonly name: string;
  readonly severity: string;
  readonly sinceDate: string;
}

export interface SeedMedication {
  readonly key: string;
  readonly name: string;
  readonly dosage: string;
  readonly frequency: string;
  readonly condition: string;
  readonly pattern: string;
  /** Minutes after local midnight; none for as-needed. */
  readonly times: readonly number[];
}

export const ADA_HISTORY: MedicalHistory = {
  conditions: [
    { name: 'Asthma', severity: 'mild', sinceDate: '2003' },
    { name: 'Hypothyroidism', severity: 'moderate', sinceDate: '2016-09' },
    { name: 'Migraine without aura', severity: 'mild', sinceDate: '2021-02-18' },
  ],
  allergies: [
    { name: 'Birch pollen', severity: 'moderate', sinceDate: '1999' },
    { name: 'Penicillin', severity: 'severe', sinceDate: '2008-06-11' },
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
      frequency: 'when needed',
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
  ehr: [
    {
      resourceType: 'Encounter',
      summary: 'Office visit, endocrinology: thyroid check, dose kept.',
      inDays: -62,
    },
    { resourceType: 'Observation', summary: 'TSH 2.1 mU/L (reference 0.4 to 4.0).', inDays: -61 },
    {
      resourceType: 'DiagnosticReport',
      summary: 'Spirometry: FEV1 92 % of predicted, mild reversible obstruction.',
      inDays: -21,
    },
    { resourceType: 'Immunization', summary: 'Influenza vaccine, quadrivalent, left arm.', inDays: -40 },
    { resourceType: 'Procedure', summary: 'Skin prick test: birch positive, grass negative.', inDays: -300 },
  ],
};

export const GRACE_HISTORY: MedicalHistory = {
  conditions: [
    { name: 'Essential hypertension', severity: 'moderate', sinceDate: '2009-04' },
    { name: 'Type 2 diabetes mellitus', severity: 'moderate', sinceDate: '2014-10-27' },
    { name: 'Osteoarthritis of the knee', severity: 'mild', sinceDate: '2018' },
  ],
  allergies: [
    { name: 'Shellfish', severity: 'severe', sinceDate: '1985' },
    { name: 'Latex', severity: 'mild', sinceDate: '' },
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
      frequency: 'when the knee hurts',
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
  ehr: [
    { resourceType: 'Observation', summary: 'HbA1c 7.1 % (54 mmol/mol).', inDays: -47 },
    {
      resourceType: 'Encounter',
      summary: 'Office visit, diabetes follow-up: metformin kept, walking advised.',
      inDays: -47,
    },
    {
      resourceType: 'DiagnosticReport',
      summary: 'Retinal photographs: no retinopathy in either eye.',
      inDays: -9,
    },
    { resourceType: 'Immunization', summary: 'Zoster vaccine, recombinant, second dose.', inDays: -75 },
  ],
};
