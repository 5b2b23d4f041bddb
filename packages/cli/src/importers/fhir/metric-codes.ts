import type { MetricName } from '@phds/catalog/metrics';

// The column "accepted on FHIR import" of metrics.md. 9279-1 maps to `Respiratory`: `Respiratory Rate` is measured by a device, but
// a clinical record is not.
const CODES: { readonly [Name in MetricName]?: readonly string[] } = {
  'Heart Rate': ['8867-4'],
  'Resting HR': ['40443-4'],
  HRV: ['80404-7'],
  'Blood Pressure': ['8480-6'],
  'BP Diastolic': ['8462-4'],
  SPO2: ['59408-5', '2708-6'],
  Respiratory: ['9279-1'],
  Glucose: ['41653-7', '2339-0', '2345-7', '99504-3', '15074-8'],
  Temperature: ['8310-5', '8331-1'],
  Steps: ['55423-8', '41950-7'],
  Calories: ['41981-2'],
  Flights: ['100304-5'],
  Sleep: ['93832-4'],
  'Sleep Deep': ['93831-6'],
  'Sleep Core': ['93830-8'],
  'Sleep REM': ['93829-0'],
  Weight: ['29463-7', '3141-9'],
  Height: ['8302-2'],
  BMI: ['39156-5'],
  'Body Fat': ['41982-0'],
};

/** The metric type that a LOINC code measures in a clinical record. Each code belongs to one type. */
export const METRIC_OF_LOINC: ReadonlyMap<string, MetricName> = new Map(
  Object.entries(CODES).flatMap(([name, codes]) => codes.map((code) => [code, name as MetricName] as const)),
);

/** Panels whose components are readings with a common time and source. */
export const READING_PANELS: ReadonlySet<string> = new Set(['85354-9', '55284-4']);
