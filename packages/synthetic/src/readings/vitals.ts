import { MINUTE_MS } from '../calendar.ts';
import type { Day } from '../plan/day.ts';
import { isAsleep } from '../plan/minutes.ts';
import { type SyntheticReading, sample } from '../reading.ts';
import { isCheckUp } from './body.ts';

const WATCH = 'apple-watch';
const CUFF = 'omron';

// People with high blood pressure also measure in the evening.
const MEASURES_TWICE = 130;

/** Systolic and diastolic blood pressure: in the morning, sitting. A pair has the same time and source. */
export function bloodPressures(day: Day): SyntheticReading[] {
  const random = day.random('blood-pressure');
  const { systolic, diastolic } = day.setting.life.body;
  const winter = 2.5 * Math.cos((2 * Math.PI * ((day.number % 365.25) - 15)) / 365.25);
  const morning = day.waking.from + random.integer(8, 25) * MINUTE_MS;
  const evening = day.awakeAt(20 * 60 + random.integer(0, 45));
  const times = systolic < MEASURES_TWICE || evening === null ? [morning] : [morning, evening];
  return times.flatMap((at, index) => {
    const effect = random.normal(index === 0 ? 2 : -3, 5.5) + winter;
    return [
      sample('Blood Pressure', at, systolic + effect, CUFF),
      sample('BP Diastolic', at, diastolic + effect * 0.55 + random.normal(0, 1.5), CUFF),
    ];
  });
}

/** SpO2: during sleep and twice a day; slightly lower at night and when ill. */
export function oxygen(day: Day): SyntheticReading[] {
  const random = day.random('spo2');
  const times = [...sleepTimes(day), ...[640, 960].map((minute) => minute + random.integer(0, 40))];
  return times.flatMap((minute) => {
    if (minute >= day.minutes.count || day.minutes.watchOff[minute] === 1) return [];
    const lower = isAsleep(day.minutes.state[minute]) ? 0.5 : 0;
    const value = day.setting.life.body.spo2 - lower - day.illness * 1.2 + random.normal(0, 0.75);
    return [sample('SPO2', day.start + minute * MINUTE_MS, Math.min(100, Math.max(88, value)), WATCH)];
  });
}

/** Respiratory rate, measured by the watch during sleep. */
export function sleepingBreaths(day: Day): SyntheticReading[] {
  const random = day.random('breathing');
  const usual = day.setting.life.body.breathsPerMinute + day.illness * 2 + random.normal(0, 0.4);
  return sleepTimes(day)
    .filter((minute) => day.minutes.watchOff[minute] === 0)
    .map((minute) =>
      sample('Respiratory Rate', day.start + minute * MINUTE_MS, usual + random.normal(0, 0.7), WATCH),
    );
}

/** Respiratory rate, counted manually once a month. */
export function countedBreaths(day: Day): SyntheticReading[] {
  const random = day.random('counted-breaths');
  const at = day.awakeAt(16 * 60 + random.integer(0, 60));
  if (!isCheckUp(day) || at === null) return [];
  const value = Math.round(day.setting.life.body.breathsPerMinute + random.normal(1, 0.8));
  return [sample('Respiratory', at, value, 'manual')];
}

/** Temperature: lower in the morning than in the evening (Mackowiak et al., JAMA 1992); measured often during a fever. */
export function temperatures(day: Day): SyntheticReading[] {
  const random = day.random('temperature');
  const isIll = day.illness > 0;
  if (!isIll && !random.chance(0.45)) return [];
  const hours = isIll ? [8, 13, 19] : [random.chance(0.7) ? 8 : 19];
  return hours.flatMap((hour) => {
    const at = day.awakeAt(hour * 60 + random.integer(0, 80));
    const value = (hour < 12 ? 36.4 : 36.75) + day.illness * 2 + random.normal(0, 0.16);
    return at === null ? [] : [sample('Temperature', at, value, 'ihealth')];
  });
}

/** Minutes of the day during sleep, at the watch's measuring interval. */
function sleepTimes({ minutes, setting, random }: Day): number[] {
  const every = setting.life.devices.sleepVitalsMinutes;
  const times: number[] = [];
  for (let minute = random('sleep-times').integer(0, every - 1); minute < minutes.count; minute += every) {
    if (isAsleep(minutes.state[minute])) times.push(minute);
  }
  return times;
}
