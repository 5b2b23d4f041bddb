import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { formatDay } from '../calendar.ts';
import type { HealthRecordContent, SyntheticHealthRecord } from './record.ts';
import type { HealthRecordDay } from './record-day.ts';

const MOOD_CHANCE = 0.6;

/** Intermittent symptoms, and a mood on most evenings. */
export function* diary(day: HealthRecordDay): Generator<SyntheticHealthRecord> {
  const { symptoms, moods } = day.timeline.person.history;
  const random = day.random('diary');
  const date = formatDay(day.number);
  for (const { description, severity, chance } of symptoms) {
    const at = day.at(random.integer(8 * 60, 21 * 60));
    if (!random.chance(chance)) continue;
    const value = { description, severity, timestamp: timestampFromMs(at) };
    yield* written(day, at, `${date} ${description}`, { case: 'symptom', value });
  }
  if (moods.length === 0 || !random.chance(MOOD_CHANCE)) return;
  const at = day.at(random.integer(18 * 60, 22 * 60));
  const { mood, note } = random.pick(moods);
  const value = { mood, note, timestamp: timestampFromMs(at) };
  yield* written(day, at, `${date} mood`, { case: 'moodEntry', value });
}

function* written(
  { timeline }: HealthRecordDay,
  at: number,
  key: string,
  record: HealthRecordContent,
): Generator<SyntheticHealthRecord> {
  if (at <= timeline.until) yield { key, source: 'manual', record };
}
