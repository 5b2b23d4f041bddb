import type { Day, SeedReading } from './day.ts';
import { momentary } from './day.ts';

const WATCH = 'apple-watch';
const CUFF = 'blood-pressure-monitor';
const GLUCOSE_SENSOR = 'glucose-sensor';

/** Blood pressure, oxygen, breathing, glucose and temperature. */
export function vitalReadings(day: Day): SeedReading[] {
  return [...bloodPressure(day), ...oxygen(day), ...breathing(day), ...glucose(day), ...temperature(day)];
}

/** A pair shares its time and source. */
function bloodPressure(day: Day): SeedReading[] {
  const random = day.random('blood-pressure');
  const { systolic, diastolic, wakesAt } = day.person.body;
  return [wakesAt + 25, 21 * 60].flatMap((minute, index) => {
    const at = day.at(minute + random.integer(0, 20));
    const effect = random.normal(index === 0 ? 3 : -2, 5);
    return [
      momentary('Blood Pressure', at, systolic + effect, CUFF),
      momentary('BP Diastolic', at, diastolic + effect * 0.6, CUFF),
    ];
  });
}

function oxygen(day: Day): SeedReading[] {
  const random = day.random('spo2');
  return [60, 180, 300, 640, 960].map((minute) => {
    const value = random.normal(day.person.body.spo2 - (minute < 360 ? 0.5 : 0), 0.7);
    return momentary('SPO2', day.at(minute + random.integer(0, 40)), Math.min(100, value), WATCH);
  });
}

function breathing(day: Day): SeedReading[] {
  const random = day.random('breathing');
  const { breathsPerMinute } = day.person.body;
  const measured = [30, 110, 190, 270, 350].map((minute) =>
    momentary(
      'Respiratory Rate',
      day.at(minute + random.integer(0, 30)),
      random.normal(breathsPerMinute, 0.6),
      WATCH,
    ),
  );
  // Counted by a person now and then, on the oldest day for sure.
  const counted =
    random.chance(0.12) || day.progress === 0
      ? [
          momentary(
            'Respiratory',
            day.at(10 * 60 + random.integer(0, 240)),
            random.normal(breathsPerMinute + 1, 1),
            'manual',
          ),
        ]
      : [];
  return [...measured, ...counted];
}

/** Before and after each of three meals, and before going to bed. */
function glucose(day: Day): SeedReading[] {
  const random = day.random('glucose');
  const { fastingGlucose, mealGlucose, wakesAt } = day.person.body;
  const meals = [wakesAt + 45, 12 * 60 + 30, 18 * 60 + 45].flatMap((meal) => {
    const minute = meal + random.integer(-20, 20);
    const before = random.normal(fastingGlucose, 6);
    return [
      momentary('Glucose', day.at(minute), before, GLUCOSE_SENSOR),
      momentary('Glucose', day.at(minute + 60), before + random.normal(mealGlucose, 9), GLUCOSE_SENSOR),
      momentary(
        'Glucose',
        day.at(minute + 120),
        before + random.normal(mealGlucose * 0.4, 6),
        GLUCOSE_SENSOR,
      ),
    ];
  });
  return [
    ...meals,
    momentary('Glucose', day.at(22 * 60 + 20), random.normal(fastingGlucose + 8, 6), GLUCOSE_SENSOR),
  ];
}

/** Every other day, with one feverish stretch in the middle. */
function temperature(day: Day): SeedReading[] {
  const random = day.random('temperature');
  const feverish = day.progress > 0.48 && day.progress < 0.52;
  if (!feverish && day.progress > 0 && random.chance(0.5)) return [];
  const value = feverish ? random.normal(38.4, 0.3) : random.normal(36.6, 0.18);
  return [momentary('Temperature', day.at(8 * 60 + random.integer(0, 90)), value, 'thermometer')];
}
