import { useCallback } from 'react';

/** For an element (`tabIndex={-1}`) that comes in place of what had the focus: it takes it over as it appears. */
export function useFocusOnAppearance(): (element: HTMLElement | null) => void {
  return useCallback((element) => element?.focus(), []);
}

/** Moves the focus to the page's heading, when what had it is gone. */
export function focusHeading(): void {
  document.querySelector<HTMLElement>('main h1')?.focus();
}
