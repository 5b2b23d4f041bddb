import { useEffect } from 'react';

/** The page's title in the browser. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Your health data`;
  }, [title]);
}
