import type { MetricName } from '@phds/catalog/metrics';
import type { Severity } from '@phds/catalog/wire-names';

const SLEEP_VALUES: Readonly<Record<string, MetricName>> = {
  Asleep: 'Sleep',
  AsleepUnspecified: 'Sleep',
  AsleepDeep: 'Sleep Deep',
  AsleepCore: 'Sleep Core',
  AsleepREM: 'Sleep REM',
  Awake: 'Sleep Awake',
  InBed: 'Time in Bed',
};

const METRIC_OF_SLEEP: ReadonlyMap<string, MetricName> = new Map(
  Object.entries(SLEEP_VALUES).map(([value, metric]) => [`HKCategoryValueSleepAnalysis${value}`, metric]),
);

export const SLEEP_ANALYSIS = 'HKCategoryTypeIdentifierSleepAnalysis';
export const MINDFUL_SESSION = 'HKCategoryTypeIdentifierMindfulSession';

/** The metric type of a sleep sample's duration; null for a value that HealthKit does not define. */
export function findSleepMetric(value: string): MetricName | null {
  return METRIC_OF_SLEEP.get(value) ?? null;
}

// HealthKit, "Symptoms": every category type that reports a symptom, with the name that we store.
const SYMPTOMS: Readonly<Record<string, string>> = {
  AbdominalCramps: 'Abdominal cramps',
  Acne: 'Acne',
  AppetiteChanges: 'Appetite changes',
  BladderIncontinence: 'Bladder incontinence',
  Bloating: 'Bloating',
  BreastPain: 'Breast pain',
  ChestTightnessOrPain: 'Chest tightness or pain',
  Chills: 'Chills',
  Constipation: 'Constipation',
  Coughing: 'Coughing',
  Diarrhea: 'Diarrhea',
  Dizziness: 'Dizziness',
  DrySkin: 'Dry skin',
  Fainting: 'Fainting',
  Fatigue: 'Fatigue',
  Fever: 'Fever',
  GeneralizedBodyAche: 'Body ache',
  HairLoss: 'Hair loss',
  Headache: 'Headache',
  Heartburn: 'Heartburn',
  HotFlashes: 'Hot flashes',
  LossOfSmell: 'Loss of smell',
  LossOfTaste: 'Loss of taste',
  LowerBackPain: 'Lower back pain',
  MemoryLapse: 'Memory lapse',
  MoodChanges: 'Mood changes',
  Nausea: 'Nausea',
  NightSweats: 'Night sweats',
  PelvicPain: 'Pelvic pain',
  RapidPoundingOrFlutteringHeartbeat: 'Rapid, pounding or fluttering heartbeat',
  RunnyNose: 'Runny nose',
  ShortnessOfBreath: 'Shortness of breath',
  SinusCongestion: 'Sinus congestion',
  SkippedHeartbeat: 'Skipped heartbeat',
  SleepChanges: 'Sleep changes',
  SoreThroat: 'Sore throat',
  VaginalDryness: 'Vaginal dryness',
  Vomiting: 'Vomiting',
  Wheezing: 'Wheezing',
};

const DESCRIPTION_OF_IDENTIFIER: ReadonlyMap<string, string> = new Map(
  Object.entries(SYMPTOMS).map(([name, words]) => [`HKCategoryTypeIdentifier${name}`, words]),
);

/** The name of the symptom that a category type reports; null for other types. */
export function findSymptom(identifier: string): string | null {
  return DESCRIPTION_OF_IDENTIFIER.get(identifier) ?? null;
}

const SEVERITY_OF_VALUE: ReadonlyMap<string, Severity | '' | 'absent'> = new Map([
  ['HKCategoryValueSeverityMild', 'mild'],
  ['HKCategoryValueSeverityModerate', 'moderate'],
  ['HKCategoryValueSeveritySevere', 'severe'],
  ['HKCategoryValueSeverityUnspecified', ''],
  ['HKCategoryValuePresencePresent', ''],
  ['HKCategoryValueAppetiteChangesUnspecified', ''],
  ['HKCategoryValueAppetiteChangesDecreased', ''],
  ['HKCategoryValueAppetiteChangesIncreased', ''],
  ['HKCategoryValueSeverityNotPresent', 'absent'],
  ['HKCategoryValuePresenceNotPresent', 'absent'],
  ['HKCategoryValueAppetiteChangesNoChange', 'absent'],
]);

/**
 * The severity that a symptom sample reports (empty if unspecified), or `absent`; null for a value that HealthKit does not define.
 */
export function severityOfSymptom(value: string): Severity | '' | 'absent' | null {
  return SEVERITY_OF_VALUE.get(value) ?? null;
}
