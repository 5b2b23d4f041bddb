import type { Day, SeedReading } from './day.ts';
import { interval, momentary } from './day.ts';

const SCALE = 'smart-scale';

/** Weight, BMI and Body Fat from the scale, Height once, and Mindfulness. */
export function bodyReadings(day: Day): SeedReading[] {
  return [...scaleReadings(day), ...height(day), ...mindfulness(day)];
}

function scaleReadings(day: Day): SeedReading[] {
  const random = day.random('scale');
  // The oldest day and the newest have one, so that there is always a change to see.
  if (day.progress > 0 && day.progress < 1 && random.chance(0.25)) return [];
  const { weightKg, weightChangeKg, heightCm, bodyFatPercent, wakesAt } = day.person.body;
  const at = day.at(wakesAt + 12);
  const weight = weightKg + weightChangeKg * day.progress + random.normal(0, 0.25);
  return [
    momentary('Weight', at, weight, SCALE),
    momentary('BMI', at, weight / (heightCm / 100) ** 2, SCALE),
    momentary(
      'Body Fat',
      at,
      bodyFatPercent + weightChangeKg * day.progress * 0.5 + random.normal(0, 0.2),
      SCALE,
    ),
  ];
}

function height(day: Day): SeedReading[] {
  return day.progress === 0 ? [momentary('Height', day.at(9 * 60), day.person.body.heightCm, 'manual')] : [];
}

function mindfulness(day: Day): SeedReading[] {
  const random = day.random('mindfulness');
  if (day.progress > 0 && !random.chance(0.45)) return [];
  const minutes = random.pick([3, 5, 10, 15, 20]);
  const start = random.chance(0.5) ? day.person.body.wakesAt + 40 : 21 * 60 + 40;
  return [interval('Mindfulness', day.at(start), day.at(start + minutes), minutes, 'mindfulness-app')];
}
