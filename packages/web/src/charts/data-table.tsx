import { useState } from 'react';
import { text } from '../texts/frame.ts';

/** The numbers behind a chart, collapsed; rendered when opened. */
export function DataTable({
  columns,
  rows,
}: {
  readonly columns: readonly string[];
  readonly rows: () => readonly (readonly string[])[];
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{text('asTable')}</summary>
      {isOpen ? <Numbers columns={columns} rows={rows()} /> : null}
    </details>
  );
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
          <tr key={row.slice(0, 2).join(' ')}>
            {row.map((cell, index) => (
              <td key={columns[index]}>{cell}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
