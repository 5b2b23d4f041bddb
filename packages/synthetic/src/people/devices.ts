import type { Devices } from '../person.ts';

/** A watch that saves its battery, and a phone: some 250 readings a day. */
export const EVERYDAY_DEVICES: Devices = {
  heartRateSeconds: 20 * 60,
  workoutHeartRateSeconds: 2 * 60,
  activityMinutes: 60,
  basalMinutes: 60,
  glucoseMinutes: null,
  sleepVitalsMinutes: 90,
};

/** A watch as it comes, and a glucose sensor: some 1,300 readings a day. */
export const FULL_DEVICES: Devices = {
  heartRateSeconds: 5 * 60,
  workoutHeartRateSeconds: 5,
  activityMinutes: 10,
  basalMinutes: 30,
  glucoseMinutes: 15,
  sleepVitalsMinutes: 30,
};

/** Everything as often as devices can: some 5,000 readings a day with two hours of sport. */
export const DENSE_DEVICES: Devices = {
  heartRateSeconds: 2 * 60,
  workoutHeartRateSeconds: 5,
  activityMinutes: 1,
  basalMinutes: 5,
  glucoseMinutes: 5,
  sleepVitalsMinutes: 10,
};
