import { type RefObject, useCallback, useRef } from 'react';

/**
 * Returns a function that tells whether the element has been on the screen with its present text. If not, it brings the element there,
 * and the next call returns true.
 */
export function useShown(element: RefObject<HTMLElement | null>): () => boolean {
  const shown = useRef<string | null>(null);
  return useCallback(() => {
    const { current } = element;
    if (current === null) return false;
    const isShown = shown.current === current.textContent || isOnScreen(current);
    shown.current = current.textContent;
    if (isShown) return true;
    current.focus({ preventScroll: true });
    current.scrollIntoView({ block: 'center' });
    return false;
  }, [element]);
}

/** Whether the middle of an element is on the screen. */
function isOnScreen(element: HTMLElement): boolean {
  const { top, bottom } = element.getBoundingClientRect();
  const middle = (top + bottom) / 2;
  return middle >= 0 && middle <= window.innerHeight;
}
