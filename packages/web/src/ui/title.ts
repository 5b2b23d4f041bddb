import { useEffect } from 'react';

/** Sets the page's browser title. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Your health data`;
  }, [title]);
}
