import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { Page } from '../api/client.ts';
import { text } from '../texts/frame.ts';
import { Button } from './button.tsx';
import style from './table.module.css';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  readonly isNumber?: boolean;
}

/** Rows with column titles. On a phone, each row is a block with titles beside the values. */
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
            <tr key={keyOf(row)} className={style['row']}>
              {columns.map(({ title, cell, isNumber = false }) => (
                <td
                  key={title}
                  data-label={title}
                  className={isNumber ? `${style['cell']} ${style['number']}` : style['cell']}
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

/** Navigation between pages; renders nothing for one page. */
export function Pages({
  pagination,
  onChange,
}: {
  readonly pagination: Page<unknown>['pagination'];
  readonly onChange: (page: number) => void;
}) {
  const { page, totalPages, total } = pagination;
  const newer = useRef<HTMLButtonElement>(null);
  const older = useRef<HTMLButtonElement>(null);
  const shown = useRef(page);
  useEffect(() => {
    // On the first and last page, the pressed button is disabled and loses the focus, which moves to the other one.
    const hasMoved = shown.current !== page;
    shown.current = page;
    if (hasMoved && document.activeElement === document.body) (page > 1 ? newer : older).current?.focus();
  }, [page]);
  if (totalPages <= 1) return null;
  return (
    <nav className={style['pages']} aria-label={text('pagesOfList')}>
      <Button ref={newer} isDisabled={page <= 1} onPress={() => onChange(page - 1)}>
        {text('newer')}
      </Button>
      <span aria-live="polite">{text('pageOf', { page, pages: totalPages, total })}</span>
      <Button ref={older} isDisabled={page >= totalPages} onPress={() => onChange(page + 1)}>
        {text('older')}
      </Button>
    </nav>
  );
}

/** The page of a list with the setter. A changed filter starts at the first page. */
export function useFilteredPage(filter: unknown): [page: number, setPage: (page: number) => void] {
  const shown = JSON.stringify(filter);
  const [at, setAt] = useState({ shown, page: 1 });
  if (at.shown !== shown) setAt({ shown, page: 1 });
  return [at.page, (page) => setAt({ shown, page })];
}
