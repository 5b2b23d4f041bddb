import { type RefObject, useLayoutEffect, useRef, useState } from 'react';

const BEFORE_MEASURED = 320;

/** The width of an element in CSS pixels, so that what is drawn in it has the page's own sizes. */
export function useWidth<E extends Element>(): [RefObject<E | null>, number] {
  const element = useRef<E>(null);
  const [width, setWidth] = useState(BEFORE_MEASURED);
  useLayoutEffect(() => {
    if (element.current === null) return;
    setWidth(element.current.clientWidth);
    const observer = new ResizeObserver(([entry]) => setWidth(entry?.contentRect.width ?? BEFORE_MEASURED));
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return [element, width];
}
