import { toUnitText } from '../../charts/trend-chart.tsx';
import { formatNumber } from '../../ui/formats.ts';
import { scopeTitle } from '../../ui/scopes.ts';
import { formatDate, formatInstant } from '../../ui/time.tsx';
import { text } from './texts.ts';
import { findTimeKind } from './time-kind.ts';
import { valueInWords } from './words.ts';

const ABSENT = '–';

type Nested = Readonly<Record<string, unknown>>;

/** The value of a field of the data API, for a person to read. */
export function fieldText(field: string, value: unknown): string {
  if (value === null || value === undefined) return ABSENT;
  if (typeof value === 'number') return formatNumber(value);
  if (typeof value === 'object') return nestedText(field, value as Nested);
  const plain = String(value);
  if (field === 'unit') return toUnitText(plain) || ABSENT;
  if (field === 'category') return scopeTitle(`read:health-data:${plain}`);
  const kind = findTimeKind(plain);
  if (kind === null) return valueInWords(field, plain);
  return kind === 'instant' ? formatInstant(plain) : formatDate(plain);
}

function nestedText(field: string, value: Nested): string {
  const part = (name: string) => fieldText(name, value[name]);
  switch (field) {
    case 'dateRange':
      return text('range', { from: part('from'), to: part('to') });
    case 'latest':
      return text('latestOf', { value: part('value'), time: part('timestamp') });
    case 'referenceRange':
      return text('rangeOf', { low: part('low'), high: part('high'), source: part('source') });
    case 'outOfRange':
      return text('outOf', {
        total: Number(value['total']),
        below: Number(value['below']),
        above: Number(value['above']),
      });
    default:
      return Object.keys(value).map(part).join(', ');
  }
}
