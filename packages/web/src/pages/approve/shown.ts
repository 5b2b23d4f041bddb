import { type RefObject, useCallback, useRef } from 'react';

/**
 * Returns a function that tells whether the element has been on the screen with its present text, for the present revision of the
 * connection. If not, it brings the element there, and the next call returns true. After a change of the connection that is always so:
 * the text may have come between the person's look and their press.
 */
export function useShown(element: RefObject<HTMLElement | null>, revision: string | null): () => boolean {
  const shown = useRef<string | null>(null);
  const known = useRef(revision);
  return useCallback(() => {
    const { current } = element;
    if (current === null) return false;
    const isSameConnection = known.current === revision;
    const isShown = isSameConnection && (shown.current === current.textContent || isOnScreen(current));
    known.current = revision;
    shown.current = current.textContent;
    if (isShown) return true;
    const isTall = current.getBoundingClientRect().height > window.innerHeight;
    current.focus({ preventScroll: true });
    current.scrollIntoView({ block: isTall ? 'start' : 'center' });
    return false;
  }, [element, revision]);
}

/** Whether all of an element is on the screen. */
function isOnScreen(element: HTMLElement): boolean {
  const { top, bottom } = element.getBoundingClientRect();
  return top >= 0 && bottom <= window.innerHeight;
}
