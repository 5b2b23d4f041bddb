import { useEffect } from 'react';
import { text } from '../texts/frame.ts';

/** Sets the page's browser title. */
export function useTitle(title: string): void {
  const pageTitle = text('pageTitle', { title });
  useEffect(() => {
    document.title = pageTitle;
  }, [pageTitle]);
}
