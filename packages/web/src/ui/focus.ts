import { useCallback } from 'react';

/** For an element (`tabIndex={-1}`) that comes in place of what had the focus: it takes it over as it appears. */
export function useFocusOnAppearance(): (element: HTMLElement | null) => void {
  return useCallback((element) => element?.focus(), []);
}

/**
 * Moves the focus to the page's heading if what had it goes away with the next rendering. Whoever has moved on meanwhile keeps their
 * place.
 */
export function focusHeading(): void {
  setTimeout(() => {
    const { activeElement, body } = document;
    if (activeElement === null || activeElement === body) {
      document.querySelector<HTMLElement>('main h1')?.focus();
    }
  });
}
