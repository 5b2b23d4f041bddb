import { MINUTE_MS } from '../calendar.ts';
import { planBouts, type Waking } from './bouts.ts';
import { type DayPlan, planMeals } from './day-plan.ts';
import { buildMinutes, type Minutes } from './minutes.ts';
import { planNight } from './night.ts';
import type { Setting } from './setting.ts';

/** A planned day with the body's state minute by minute. */
export interface Day extends DayPlan {
  readonly minutes: Minutes;
}

function planDay(setting: Setting, number: number): Day {
  const [start, end] = [setting.startOf(number), setting.startOf(number + 1)];
  const [night, nextNight] = [planNight(setting, number), planNight(setting, number + 1)];
  const waking = {
    from: Math.max(start, night.outOfBed + 4 * MINUTE_MS),
    to: Math.min(end, nextNight.inBed - 10 * MINUTE_MS),
  };
  const illness = setting.illnessOn(number);
  const plan: DayPlan = {
    setting,
    number,
    timeZone: setting.zoneOn(number),
    start,
    end,
    night,
    nextNight,
    waking,
    bouts: planBouts(setting, number, waking),
    meals: [...planMeals(setting, number - 1), ...planMeals(setting, number)],
    charging: planCharging(setting, number),
    illness,
    restingHeartRate: restingHeartRateOn(setting, number),
    random: (topic) => setting.random(number, topic),
    awakeAt: (minute) => {
      const at = setting.at(number, minute);
      return at >= waking.from && at < waking.to ? at : null;
    },
  };
  return { ...plan, minutes: buildMinutes(plan) };
}

/** Varies with fitness over weeks, and with illness. */
function restingHeartRateOn(setting: Setting, day: number): number {
  const noise = setting.random(day, 'resting').normal(0, 1.1);
  return (
    setting.life.body.restingHeartRate +
    setting.drift(day, 'fitness', 28) * 2 +
    setting.illnessOn(day) * 9 +
    noise
  );
}

function planCharging(setting: Setting, day: number): Waking {
  const random = setting.random(day, 'charging');
  const from = setting.at(
    day,
    random.chance(0.7) ? random.integer(20 * 60, 21 * 60) : random.integer(600, 780),
  );
  return { from, to: from + random.integer(35, 60) * MINUTE_MS };
}

const KEPT_DAYS = 200;

/** Plans days on demand and caches the latest, so that memory does not grow with their number. */
export function createPlanner(setting: Setting): (day: number) => Day {
  const days = new Map<number, Day>();
  return (number) => {
    const known = days.get(number);
    if (known !== undefined) return known;
    const day = planDay(setting, number);
    const [oldest] = days.keys();
    if (days.size >= KEPT_DAYS && oldest !== undefined) days.delete(oldest);
    days.set(number, day);
    return day;
  };
}
