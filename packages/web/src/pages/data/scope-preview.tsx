import { findScope } from '@phds/catalog/scopes';
import { usePreview } from '../../api/preview.ts';
import type { Preview, TrendPoint } from '../../api/resources.ts';
import { TrendChart, toUnitText } from '../../charts/trend-chart.tsx';
import { Card, Grid, Soft, Stack } from '../../ui/card.tsx';
import { formatNumber } from '../../ui/formats.ts';
import { Empty } from '../../ui/notice.tsx';
import { Resource } from '../../ui/resource.tsx';
import { Table } from '../../ui/table.tsx';
import { formatDate, formatInstant } from '../../ui/time.tsx';

type Item = Preview['newest'][number];

interface Row {
  readonly item: Item;
  readonly key: string;
}

/** The total, charts of the last 30 days, and the newest items of one scope. */
export function ScopePreview({ scope }: { readonly scope: string }) {
  const preview = usePreview(scope);
  return <Resource query={preview}>{(found) => <Found preview={found} />}</Resource>;
}

function Found({ preview: { scope, total, newest, trend } }: { readonly preview: Preview }) {
  const entry = findScope(scope);
  if (total === 0) {
    return (
      <Empty title="There is nothing of this kind">
        <p>An app that you share it with would see an empty list, and later what is added.</p>
      </Empty>
    );
  }
  const byType = Map.groupBy(trend, (point: TrendPoint) => point.type);
  return (
    <Stack>
      <Soft>
        {entry?.description} {formatNumber(total)} in all.
      </Soft>
      {byType.size === 0 ? null : (
        <Grid>
          {[...byType].map(([type, points]) => (
            <Card key={type} label={`${type}, the last 30 days`}>
              <TrendChart points={points} />
            </Card>
          ))}
        </Grid>
      )}
      <h2>
        {newest.length < total
          ? `What an app sees first: ${newest.length} of ${formatNumber(total)}`
          : 'All of it'}
      </h2>
      <NewestTable items={newest} />
    </Stack>
  );
}

function NewestTable({ items }: { readonly items: readonly Item[] }) {
  const [first] = items;
  if (first === undefined) return null;
  const fields = Object.keys(first).filter((field) => field !== 'id' && !isNested(first[field]));
  return (
    <Table
      caption="What an app sees first"
      rows={items.map((item, index): Row => ({ item, key: String(item['id'] ?? index) }))}
      keyOf={({ key }) => key}
      columns={fields.map((field) => ({
        title: toTitle(field),
        cell: ({ item }: Row) => toText(item[field], field),
        isNumber: typeof first[field] === 'number',
      }))}
    />
  );
}

function isNested(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function toTitle(field: string): string {
  if (field === 'timestamp') return 'When';
  const words = field.replaceAll(/([A-Z])/g, ' $1').toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const INSTANT = /^\d{4}-\d\d-\d\dT/;
const DATE = /^\d{4}-\d\d-\d\d$/;

function toText(value: unknown, field: string): string {
  if (value === null || value === undefined) return '–';
  if (typeof value === 'number') return formatNumber(value);
  const text = String(value);
  if (field === 'unit') return toUnitText(text);
  if (INSTANT.test(text)) return formatInstant(text);
  return DATE.test(text) ? formatDate(text) : text;
}
