import { text } from '../texts/frame.ts';
import { Folded } from '../ui/folded.tsx';
import { Table } from '../ui/table.tsx';

/** The numbers behind a chart, folded. */
export function DataTable({
  title,
  columns,
  rows,
}: {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: () => readonly (readonly string[])[];
}) {
  return (
    <Folded title={text('asTable')}>
      {() => (
        <Table
          caption={title}
          columns={columns.map((column, index) => ({
            title: column,
            cell: (row: readonly string[]) => row[index],
          }))}
          rows={rows()}
          keyOf={(row) => row.slice(0, -1).join(' ')}
        />
      )}
    </Folded>
  );
}
