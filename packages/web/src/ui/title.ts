import { useEffect } from 'react';
import { text } from '../texts/frame.ts';
import { isOfConsole } from '../texts/language.ts';

/** What these pages are called in the header and in titles. */
export function productName(): string {
  return text(isOfConsole(location.pathname) ? 'service' : 'product');
}

/** Sets the page's browser title. */
export function useTitle(title: string): void {
  const pageTitle = text('pageTitle', { title, product: productName() });
  useEffect(() => {
    document.title = pageTitle;
  }, [pageTitle]);
}
