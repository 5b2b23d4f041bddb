import { findMetricByName, type MetricKey } from '@phds/catalog/metrics';
import { text } from './texts.ts';

type Id = Parameters<typeof text>[0];
type Words = Readonly<Record<string, Id>>;

const TYPES: Readonly<Record<MetricKey, Id>> = {
  'heart-rate': 'heartRate',
  'resting-hr': 'restingHeartRate',
  'walking-hr': 'walkingHeartRate',
  hrv: 'heartRateVariability',
  ecg: 'ecg',
  'blood-pressure': 'bloodPressureUpper',
  'bp-diastolic': 'bloodPressureLower',
  spo2: 'oxygen',
  'respiratory-rate': 'respiratoryRate',
  respiratory: 'respiratory',
  glucose: 'glucose',
  temperature: 'temperature',
  steps: 'steps',
  distance: 'distance',
  calories: 'calories',
  'basal-calories': 'basalCalories',
  exercise: 'exercise',
  flights: 'flights',
  sleep: 'sleep',
  'sleep-deep': 'sleepDeep',
  'sleep-core': 'sleepCore',
  'sleep-rem': 'sleepRem',
  'sleep-awake': 'sleepAwake',
  'time-in-bed': 'timeInBed',
  weight: 'bodyWeight',
  height: 'height',
  bmi: 'bmi',
  'body-fat': 'bodyFat',
  mindfulness: 'mindfulness',
};

const FIELDS: Words = {
  timestamp: 'fieldTime',
  type: 'fieldType',
  value: 'fieldValue',
  source: 'fieldSource',
  start: 'fieldStart',
  end: 'fieldEnd',
  bucket: 'fieldBucket',
  count: 'fieldCount',
  average: 'fieldAverage',
  min: 'fieldMin',
  max: 'fieldMax',
  sum: 'fieldSum',
  category: 'fieldCategory',
  basis: 'fieldBasis',
  latest: 'fieldLatest',
  referenceRange: 'fieldReferenceRange',
  outOfRange: 'fieldOutOfRange',
  description: 'fieldDescription',
  severity: 'fieldSeverity',
  name: 'fieldName',
  dosage: 'fieldDosage',
  frequency: 'fieldFrequency',
  condition: 'fieldCondition',
  pattern: 'fieldPattern',
  medication: 'fieldMedication',
  scheduledAt: 'fieldScheduledAt',
  status: 'fieldStatus',
  takenAt: 'fieldTakenAt',
  dose: 'fieldDose',
  reason: 'fieldReason',
  sinceDate: 'fieldSinceDate',
  title: 'fieldTitle',
  dateTime: 'fieldDateTime',
  specialty: 'fieldSpecialty',
  location: 'fieldLocation',
  weightKg: 'fieldWeightKg',
  date: 'fieldDate',
  mood: 'fieldMood',
  note: 'fieldNote',
  generatedAt: 'fieldGeneratedAt',
  dateRange: 'fieldDateRange',
  summary: 'fieldSummary',
  gender: 'fieldGender',
  dateOfBirth: 'fieldDateOfBirth',
  bloodType: 'fieldBloodType',
  resourceType: 'fieldResourceType',
};

/** The codes of fields (`packages/catalog/src/wire-names.ts`), and the usual sources and kinds of record. */
const CODES: Readonly<Record<string, Words>> = {
  mood: {
    veryUnpleasant: 'moodVeryUnpleasant',
    unpleasant: 'moodUnpleasant',
    slightlyUnpleasant: 'moodSlightlyUnpleasant',
    neutral: 'moodNeutral',
    slightlyPleasant: 'moodSlightlyPleasant',
    pleasant: 'moodPleasant',
    veryPleasant: 'moodVeryPleasant',
  },
  severity: {
    mild: 'severityMild',
    moderate: 'severityModerate',
    severe: 'severitySevere',
  },
  pattern: {
    QD: 'patternQd',
    BID: 'patternBid',
    TID: 'patternTid',
    QID: 'patternQid',
    QOD: 'patternQod',
    AM: 'patternAm',
    PM: 'patternPm',
    BED: 'patternBed',
    Q1H: 'patternQ1h',
    Q2H: 'patternQ2h',
    Q3H: 'patternQ3h',
    Q4H: 'patternQ4h',
    Q6H: 'patternQ6h',
    Q8H: 'patternQ8h',
    WK: 'patternWk',
    MO: 'patternMo',
    PRN: 'patternPrn',
    OTHER: 'patternOther',
  },
  status: {
    taken: 'statusTaken',
    skipped: 'statusSkipped',
    missed: 'statusMissed',
    pending: 'statusPending',
  },
  gender: {
    male: 'genderMale',
    female: 'genderFemale',
    other: 'genderOther',
    unknown: 'genderUnknown',
  },
  bucket: {
    hour: 'bucketHour',
    day: 'bucketDay',
  },
  basis: {
    reading: 'basisReading',
    day: 'basisDay',
  },
  source: {
    'apple-watch': 'sourceAppleWatch',
    iphone: 'sourceIphone',
    manual: 'sourceManual',
    ehr: 'sourceEhr',
    csv: 'sourceCsv',
  },
  resourceType: {
    AllergyIntolerance: 'kindAllergy',
    Condition: 'kindCondition',
    DiagnosticReport: 'kindDiagnosticReport',
    Encounter: 'kindEncounter',
    Immunization: 'kindImmunization',
    MedicationRequest: 'kindPrescription',
    MedicationStatement: 'kindMedication',
    Observation: 'kindObservation',
    Procedure: 'kindProcedure',
    DocumentReference: 'kindDocument',
  },
};

/** The name of a type of reading. */
export function typeName(type: string): string {
  const metric = findMetricByName(type);
  return metric === null ? type : text(TYPES[metric.key]);
}

/** The title of a field of the data API. */
export function fieldTitle(field: string): string {
  return say(FIELDS, field);
}

/** The value of a field in words; a value that is not a known code is returned as it is. */
export function valueInWords(field: string, value: string): string {
  return field === 'type' ? typeName(value) : say(CODES[field] ?? {}, value);
}

function say(words: Words, code: string): string {
  const id = Object.hasOwn(words, code) ? words[code] : undefined;
  return id === undefined ? code : text(id);
}
