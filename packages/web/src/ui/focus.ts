import { useCallback } from 'react';

/** For an element (`tabIndex={-1}`) that replaces the focused one: it takes over the focus when it appears. */
export function useFocusOnAppearance(): (element: HTMLElement | null) => void {
  return useCallback((element) => element?.focus(), []);
}

/**
 * Moves the focus to the page's heading if the focused element disappears with the next rendering. If the focus has moved elsewhere
 * in the meantime, it stays there.
 */
export function focusHeading(): void {
  setTimeout(() => {
    const { activeElement, body } = document;
    if (activeElement === null || activeElement === body) {
      document.querySelector<HTMLElement>('main h1')?.focus();
    }
  });
}

/** Moves the focus to the first field that the next rendering marks as wrong, so that a screen reader reads the error. */
export function focusInvalidField(): void {
  setTimeout(() => document.querySelector<HTMLElement>('main [aria-invalid="true"]')?.focus());
}
