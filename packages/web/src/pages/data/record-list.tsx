import { findMetricByName } from '@phds/catalog/metrics';
import type { Preview } from '../../api/resources.ts';
import { measureText } from '../../charts/trend-chart.tsx';
import { Card, Facts } from '../../ui/card.tsx';
import { formatNumber } from '../../ui/formats.ts';
import { scopeTitle } from '../../ui/scopes.ts';
import { Table } from '../../ui/table.tsx';
import { formatDate, formatInstant } from '../../ui/time.tsx';
import { text } from './texts.ts';
import { findTimeKind } from './time-kind.ts';
import { fieldTitle, valueInWords } from './words.ts';

type Item = Preview['newest'][number];

interface Row {
  readonly item: Item;
  readonly key: string;
}

/** More do not fit side by side. */
const MOST_COLUMNS = 7;

/** Every field of some records, as a table, or as a card for each record if they have many fields. */
export function RecordList({ title, items }: { readonly title: string; readonly items: readonly Item[] }) {
  const fields = fieldsOf(items);
  const rows = items.map((item, index): Row => ({ item, key: String(item['id'] ?? index) }));
  return (
    <>
      <h2>{title}</h2>
      {fields.length > MOST_COLUMNS ? (
        rows.map(({ item, key }) => (
          <Card key={key}>
            <Facts facts={fields.map((field) => [fieldTitle(field), fieldText(item, field)] as const)} />
          </Card>
        ))
      ) : (
        <Table
          caption={title}
          rows={rows}
          keyOf={({ key }) => key}
          columns={fields.map((field) => ({
            title: fieldTitle(field),
            cell: ({ item }: Row) => fieldText(item, field),
            isNumber: typeof items[0]?.[field] === 'number',
          }))}
        />
      )}
    </>
  );
}

const ABSENT = '–';

type Nested = Readonly<Record<string, unknown>>;

/** The fields to show: not the unit, which the values have with them, nor sums of what is not summed, such as heart rates. */
function fieldsOf(items: readonly Item[]): string[] {
  const isSummed = items.some(({ type }) => findMetricByName(String(type))?.kind === 'additive');
  return Object.keys(items[0] ?? {}).filter(
    (field) => field !== 'id' && field !== 'unit' && (field !== 'sum' || isSummed),
  );
}

/** The value of a field of the data API, for a person to read. */
export function fieldText(item: Nested, field: string): string {
  const value = item[field];
  const { type, unit } = item;
  if (value === null || value === undefined) return ABSENT;
  if (typeof value === 'number')
    return typeof unit === 'string' && field !== 'count'
      ? measureText(value, unit, String(type))
      : formatNumber(value);
  if (typeof value === 'object') return nestedText(item, field, value as Nested);
  const plain = String(value);
  if (field === 'category') return scopeTitle(`read:health-data:${plain}`);
  const kind = findTimeKind(plain);
  if (kind === null) return valueInWords(field, plain);
  // A time is not broken over two lines.
  return (kind === 'instant' ? formatInstant(plain) : formatDate(plain)).replaceAll(' ', '\u00a0');
}

function nestedText({ type, unit }: Nested, field: string, value: Nested): string {
  const part = (name: string) => fieldText({ type, unit, ...value }, name);
  switch (field) {
    case 'dateRange':
      return text('range', { from: part('from'), to: part('to') });
    case 'latest':
      return text('latestOf', { value: part('value'), time: part('timestamp') });
    case 'referenceRange':
      return text('rangeOf', {
        low: fieldText(value, 'low'),
        high: fieldText(value, 'high'),
        source: part('source'),
      });
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
