import type { Preview } from '../../api/resources.ts';
import { Card, Facts } from '../../ui/card.tsx';
import { Table } from '../../ui/table.tsx';
import { fieldText } from './field-text.ts';
import { fieldTitle } from './words.ts';

type Item = Preview['newest'][number];

interface Row {
  readonly item: Item;
  readonly key: string;
}

/** More do not fit side by side. */
const MOST_COLUMNS = 7;

/** Every field of some records, as a table, or as a card for each record if they have many fields. */
export function RecordList({ title, items }: { readonly title: string; readonly items: readonly Item[] }) {
  const fields = Object.keys(items[0] ?? {}).filter((field) => field !== 'id');
  const rows = items.map((item, index): Row => ({ item, key: String(item['id'] ?? index) }));
  return (
    <>
      <h2>{title}</h2>
      {fields.length > MOST_COLUMNS ? (
        rows.map(({ item, key }) => (
          <Card key={key}>
            <Facts
              facts={fields.map((field) => [fieldTitle(field), fieldText(field, item[field])] as const)}
            />
          </Card>
        ))
      ) : (
        <Table
          caption={title}
          rows={rows}
          keyOf={({ key }) => key}
          columns={fields.map((field) => ({
            title: fieldTitle(field),
            cell: ({ item }: Row) => fieldText(field, item[field]),
            isNumber: typeof items[0]?.[field] === 'number',
          }))}
        />
      )}
    </>
  );
}
