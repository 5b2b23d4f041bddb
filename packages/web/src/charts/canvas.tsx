import { type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import { formatNumber } from '../ui/formats.ts';
import style from './chart.module.css';

/** An SVG drawn in CSS pixels. It is drawn once its width is known, and again when that changes. */
export function Canvas({
  height,
  children,
}: {
  readonly height: number;
  readonly children: (width: number) => ReactNode;
}) {
  const svg = useRef<SVGSVGElement>(null);
  const [width, setWidth] = useState<number | null>(null);
  useLayoutEffect(() => {
    if (svg.current === null) return;
    const measure = ({ contentRect }: Pick<ResizeObserverEntry, 'contentRect'>) =>
      setWidth(Math.floor(contentRect.width));
    measure({ contentRect: svg.current.getBoundingClientRect() });
    const observer = new ResizeObserver(([entry]) => entry !== undefined && measure(entry));
    observer.observe(svg.current);
    return () => observer.disconnect();
  }, []);
  return (
    <svg ref={svg} className={style['svg']} height={height} aria-hidden="true">
      {width === null ? null : children(width)}
    </svg>
  );
}

/** Grid lines with their values on the left. */
export function ValueAxis({
  ticks,
  y,
  from,
  to,
}: {
  readonly ticks: readonly number[];
  readonly y: (value: number) => number;
  readonly from: number;
  readonly to: number;
}) {
  return ticks.map((tick) => (
    <g key={tick} transform={`translate(0 ${y(tick)})`}>
      <line className={style['axis']} x1={from} x2={to} />
      <text className={style['label']} x={from - 7} dy="0.32em" textAnchor="end">
        {formatNumber(tick)}
      </text>
    </g>
  ));
}
