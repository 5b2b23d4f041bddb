import { useState } from 'react';

/** The page of a list with the setter. A changed filter starts at the first page. */
export function useFilteredPage(filter: unknown): [page: number, setPage: (page: number) => void] {
  const shown = JSON.stringify(filter);
  const [at, setAt] = useState({ shown, page: 1 });
  if (at.shown !== shown) setAt({ shown, page: 1 });
  return [at.page, (page) => setAt({ shown, page })];
}
