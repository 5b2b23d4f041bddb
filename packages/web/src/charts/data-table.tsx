import { text } from '../texts/frame.ts';
import { Folded } from '../ui/folded.tsx';

/** The numbers behind a chart, folded. */
export function DataTable({
  columns,
  rows,
}: {
  readonly columns: readonly string[];
  readonly rows: () => readonly (readonly string[])[];
}) {
  return <Folded title={text('asTable')}>{() => <Numbers columns={columns} rows={rows()} />}</Folded>;
}

function Numbers({
  columns,
  rows,
}: {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}) {
  return (
    <table>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column} scope="col">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.slice(0, -1).join(' ')}>
            {row.map((cell, index) => (
              <td key={columns[index]}>{cell}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
