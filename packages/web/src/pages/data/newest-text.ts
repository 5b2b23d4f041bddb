import type { HeldData } from '../../api/resources.ts';
import { measureText } from '../../charts/trend-chart.tsx';
import { fieldText } from './record-list.tsx';
import { text } from './texts.ts';

type Item = NonNullable<HeldData['latest']>;

/** What an item is about, and its time; the first that an item has. */
const SUBJECTS = ['description', 'name', 'title', 'mood', 'summary'];
const TIMES = ['timestamp', 'dateTime', 'date', 'sinceDate', 'generatedAt'];

/** One line about an item: “Heart rate: 69 beats per minute · 22 Nov 2026, 07:28”. */
export function newestText(item: Item): string {
  const time = TIMES.find((field) => item[field]);
  return [subjectOf(item), ...(time === undefined ? [] : [fieldText(item, time)])].join(' · ');
}

function subjectOf(item: Item): string {
  const { weightKg } = item;
  if ('value' in item)
    return text('typeAndValue', { type: fieldText(item, 'type'), value: fieldText(item, 'value') });
  if (typeof weightKg === 'number') return measureText(weightKg, 'kg', 'Weight');
  return fieldText(item, SUBJECTS.find((field) => item[field]) ?? 'type');
}
