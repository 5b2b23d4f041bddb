import type { ReactNode } from 'react';
import { text } from '../texts/frame.ts';
import { formatNumber } from '../ui/formats.ts';
import { formatDayOfMonth } from '../ui/time.tsx';
import style from './chart.module.css';

/** More do not fit below a chart on a phone. */
const MOST_NAMED_DAYS = 4;

/** A place in a chart, in percent of its width or height. */
export const percent = (part: number, whole: number) => `${(100 * part) / whole}%`;

/**
 * A chart of values by day (YYYY-MM-DD), from `low` at its bottom to `high` at its top: lines at some values, and below it the dates of
 * some days. `children` is drawn over the lines.
 */
export function Plot({
  days,
  today,
  low = 0,
  high,
  lines,
  children,
}: {
  readonly days: readonly string[];
  /** The day to name so. */
  readonly today?: string | undefined;
  readonly low?: number;
  readonly high: number;
  readonly lines: readonly number[];
  readonly children: ReactNode;
}) {
  const every = Math.ceil(days.length / MOST_NAMED_DAYS);
  // The last day is one of them.
  const isNamed = (index: number) => (days.length - 1 - index) % every === 0;
  return (
    <div className={style['plot']} aria-hidden="true">
      {lines.map((value) => (
        <div key={value} className={style['line']} style={{ bottom: percent(value - low, high - low) }}>
          <span>{formatNumber(value)}</span>
        </div>
      ))}
      {children}
      {days.map((day, index) =>
        isNamed(index) ? (
          <span key={day} className={style['date']} style={{ left: percent(index + 0.5, days.length) }}>
            {day === today ? text('today') : formatDayOfMonth(day)}
          </span>
        ) : null,
      )}
    </div>
  );
}
