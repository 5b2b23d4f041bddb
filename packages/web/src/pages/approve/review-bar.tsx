import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import style from './approval-form.module.css';
import { text } from './texts.ts';

/** Room for the outline of a focused element. */
const CLEARANCE_PX = 8;
/** At the bottom of the screen there is no room for the buttons below the summary. */
const ABOVE_BOTTOM = { rootMargin: '0px 0px -30% 0px' };

/**
 * A bar at the bottom of the screen. It leads to the summary while that is not on the screen; it never decides. It keeps its height, so
 * that the page does not move under a pointer when the summary comes or goes.
 */
export function ReviewBar({
  summary,
  count,
  children,
}: {
  readonly summary: RefObject<HTMLElement | null>;
  readonly count: number;
  readonly children: ReactNode;
}) {
  const isAway = useIsAway(summary);
  const review = () => {
    summary.current?.focus({ preventScroll: true });
    summary.current?.scrollIntoView({ block: 'center' });
  };
  const bar = useRef<HTMLDivElement>(null);
  useFocusAbove(bar);
  return (
    <div ref={bar} className={isAway ? style['bar'] : `${style['bar']} ${style['resting']}`}>
      {children}
      <div className={style['review']}>
        <span>{text('selected', { count })}</span>
        <Button onPress={review}>{text('review')}</Button>
      </div>
    </div>
  );
}

/** Whether an element is outside the screen, or at its bottom. */
function useIsAway(element: RefObject<HTMLElement | null>): boolean {
  const [isAway, setAway] = useState(false);
  useEffect(() => {
    if (element.current === null) return;
    const update = (entries: IntersectionObserverEntry[]) =>
      setAway(entries.at(-1)?.isIntersecting === false);
    const observer = new IntersectionObserver(update, ABOVE_BOTTOM);
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return isAway;
}

/**
 * Scrolls elements that get the focus under the bar above it (WCAG 2.4.11). Not those that a mouse or finger presses: the page would move
 * under the pointer, and the press would be lost.
 */
function useFocusAbove(bar: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const reveal = () => {
      const target = document.activeElement;
      if (target === null || !target.matches(':focus-visible')) return;
      if (bar.current === null || bar.current.contains(target)) return;
      const limit = bar.current.getBoundingClientRect().top;
      const { top, bottom } = (target.closest('label') ?? target).getBoundingClientRect();
      if (bottom > limit && bottom - top < limit) window.scrollBy(0, bottom - limit + CLEARANCE_PX);
    };
    document.addEventListener('focusin', reveal);
    return () => document.removeEventListener('focusin', reveal);
  }, [bar]);
}
