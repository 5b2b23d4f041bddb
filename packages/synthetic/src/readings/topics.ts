import type { MetricName } from '@phds/catalog/metrics';
import type { Day } from '../plan/day.ts';
import type { SyntheticReading } from '../reading.ts';
import * as activity from './activity.ts';
import * as body from './body.ts';
import { glucose } from './glucose.ts';
import * as heart from './heart.ts';
import * as sleep from './sleep.ts';
import * as vitals from './vitals.ts';

/** Readings that are generated together. */
export interface Topic {
  readonly types: readonly MetricName[];
  readonly make: (day: Day) => SyntheticReading[];
}

function topic(make: Topic['make'], ...types: readonly MetricName[]): Topic {
  return { types, make };
}

/** Every metric type once, in catalog order. */
export const TOPICS: readonly Topic[] = [
  topic(heart.heartRates, 'Heart Rate'),
  topic(heart.restingRates, 'Resting HR'),
  topic(heart.walkingRates, 'Walking HR'),
  topic(heart.variabilities, 'HRV'),
  topic(heart.electrocardiograms, 'ECG'),
  topic(vitals.bloodPressures, 'Blood Pressure', 'BP Diastolic'),
  topic(vitals.oxygen, 'SPO2'),
  topic(vitals.sleepingBreaths, 'Respiratory Rate'),
  topic(vitals.countedBreaths, 'Respiratory'),
  topic(glucose, 'Glucose'),
  topic(vitals.temperatures, 'Temperature'),
  topic(activity.steps, 'Steps'),
  topic(activity.distances, 'Distance'),
  topic(activity.activeEnergy, 'Calories'),
  topic(activity.basalEnergy, 'Basal Calories'),
  topic(activity.exercise, 'Exercise'),
  topic(activity.flights, 'Flights'),
  topic(sleep.sleep, 'Sleep'),
  topic(sleep.deepSleep, 'Sleep Deep'),
  topic(sleep.coreSleep, 'Sleep Core'),
  topic(sleep.remSleep, 'Sleep REM'),
  topic(sleep.awakenings, 'Sleep Awake'),
  topic(sleep.timeInBed, 'Time in Bed'),
  topic(body.weights, 'Weight'),
  topic(body.heights, 'Height'),
  topic(body.bodyMassIndices, 'BMI'),
  topic(body.bodyFats, 'Body Fat'),
  topic(body.mindfulness, 'Mindfulness'),
];
