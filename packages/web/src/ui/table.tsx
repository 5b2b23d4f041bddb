import type { ReactNode } from 'react';
import type { Page } from '../api/client.ts';
import { Button } from './button.tsx';
import style from './table.module.css';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  readonly isNumber?: boolean;
}

/** Rows under titles; on a phone each row becomes a card of its own, with the titles beside the values. */
export function Table<Row>({
  caption,
  columns,
  rows,
  keyOf,
}: {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
}) {
  return (
    <div className={style['frame']}>
      <table className={style['table']} aria-label={caption}>
        <thead>
          <tr>
            {columns.map(({ title, isNumber }) => (
              <th key={title} scope="col" className={isNumber === true ? style['number'] : undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ title, cell, isNumber }) => (
                <td
                  key={title}
                  data-label={title}
                  className={isNumber === true ? style['number'] : undefined}
                >
                  <span>{cell(row)}</span>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Leafs through a list; nothing for a list of one page. */
export function Pages({
  pagination,
  onChange,
}: {
  readonly pagination: Page<unknown>['pagination'];
  readonly onChange: (page: number) => void;
}) {
  const { page, totalPages, total } = pagination;
  if (totalPages <= 1) return null;
  return (
    <nav className={style['pages']} aria-label="Pages of the list">
      <Button isDisabled={page <= 1} onPress={() => onChange(page - 1)}>
        Newer
      </Button>
      <span aria-live="polite">
        Page {page} of {totalPages} ({total.toLocaleString()} in all)
      </span>
      <Button isDisabled={page >= totalPages} onPress={() => onChange(page + 1)}>
        Older
      </Button>
    </nav>
  );
}
