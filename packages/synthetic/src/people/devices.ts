import type { Devices } from '../person.ts';

/** A watch in power-saving mode, and a phone: about 250 readings a day. */
export const EVERYDAY_DEVICES: Devices = {
  heartRateSeconds: 20 * 60,
  workoutHeartRateSeconds: 2 * 60,
  activityMinutes: 60,
  basalMinutes: 60,
  glucoseMinutes: null,
  sleepVitalsMinutes: 90,
};

/** A watch with default settings, and a glucose sensor: about 1,300 readings a day. */
export const FULL_DEVICES: Devices = {
  heartRateSeconds: 5 * 60,
  workoutHeartRateSeconds: 5,
  activityMinutes: 10,
  basalMinutes: 30,
  glucoseMinutes: 15,
  sleepVitalsMinutes: 30,
};

/** The highest measuring rates of devices: about 5,000 readings a day with two hours of sport. */
export const DENSE_DEVICES: Devices = {
  heartRateSeconds: 2 * 60,
  workoutHeartRateSeconds: 5,
  activityMinutes: 1,
  basalMinutes: 5,
  glucoseMinutes: 5,
  sleepVitalsMinutes: 10,
};
