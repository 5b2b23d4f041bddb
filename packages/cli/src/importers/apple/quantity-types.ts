import type { MetricName } from '@phds/catalog/metrics';

// The column "HealthKit" of metrics.md.
const QUANTITIES: Readonly<Record<string, MetricName>> = {
  HeartRate: 'Heart Rate',
  RestingHeartRate: 'Resting HR',
  WalkingHeartRateAverage: 'Walking HR',
  HeartRateVariabilitySDNN: 'HRV',
  BloodPressureSystolic: 'Blood Pressure',
  BloodPressureDiastolic: 'BP Diastolic',
  OxygenSaturation: 'SPO2',
  RespiratoryRate: 'Respiratory Rate',
  BloodGlucose: 'Glucose',
  BodyTemperature: 'Temperature',
  StepCount: 'Steps',
  DistanceWalkingRunning: 'Distance',
  ActiveEnergyBurned: 'Calories',
  BasalEnergyBurned: 'Basal Calories',
  AppleExerciseTime: 'Exercise',
  FlightsClimbed: 'Flights',
  BodyMass: 'Weight',
  Height: 'Height',
  BodyMassIndex: 'BMI',
  BodyFatPercentage: 'Body Fat',
};

const METRIC_OF_IDENTIFIER: ReadonlyMap<string, MetricName> = new Map(
  Object.entries(QUANTITIES).map(([name, metric]) => [`HKQuantityTypeIdentifier${name}`, metric]),
);

/** The metric type of a HealthKit quantity; null if there is none. */
export function findQuantityMetric(identifier: string): MetricName | null {
  return METRIC_OF_IDENTIFIER.get(identifier) ?? null;
}

/** The metric type of a manual entry, which may differ: only a device measures a `Respiratory Rate`. */
export function metricByHand(metric: MetricName): MetricName {
  return metric === 'Respiratory Rate' ? 'Respiratory' : metric;
}
