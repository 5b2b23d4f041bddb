import type { MetricName } from '@phds/catalog/metrics';
import { MINUTE_MS } from '../calendar.ts';
import type { Day } from '../plan/day.ts';
import type { Stage } from '../plan/night.ts';
import { interval, type Source, type SyntheticReading } from '../reading.ts';

/** The readings of one sleep stage in the night that ends on the day. */
function stagesOf(stage: Stage, type: MetricName): (day: Day) => SyntheticReading[] {
  return ({ night }) =>
    night.measured
      ? night.stages
          .filter((each) => each.stage === stage)
          .map(({ start, end }) => span(type, start, end, 'apple-watch'))
      : [];
}

export const deepSleep = stagesOf('deep', 'Sleep Deep');
export const coreSleep = stagesOf('core', 'Sleep Core');
export const remSleep = stagesOf('rem', 'Sleep REM');
export const awakenings = stagesOf('awake', 'Sleep Awake');

/** Sleep: the intervals between awakenings, which sum to the time asleep. */
export function sleep({ night }: Day): SyntheticReading[] {
  if (!night.measured) return [];
  const stretches: { start: number; end: number }[] = [];
  for (const { stage, start, end } of night.stages) {
    if (stage === 'awake') continue;
    const last = stretches.at(-1);
    if (last?.end === start) last.end = end;
    else stretches.push({ start, end });
  }
  return stretches.map(({ start, end }) => span('Sleep', start, end, 'apple-watch'));
}

/** Time in bed, which the phone knows even without the watch. */
export function timeInBed({ night }: Day): SyntheticReading[] {
  return [span('Time in Bed', night.inBed, night.outOfBed, 'iphone')];
}

function span(type: MetricName, start: number, end: number, source: Source): SyntheticReading {
  return interval(type, start, end, (end - start) / MINUTE_MS, source);
}
