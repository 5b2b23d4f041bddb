import { max, nice, rollups, sum, ticks } from 'd3-array';
import type { ReactNode } from 'react';
import { daysBetween } from '../ui/days.ts';
import { formatNumber } from '../ui/formats.ts';
import { formatDate } from '../ui/time.tsx';
import style from './chart.module.css';
import { Plot, percent } from './plot.tsx';

/** The reads of a day (YYYY-MM-DD). */
interface Reads {
  readonly date: string;
  readonly released: number;
  readonly refused: number;
}

const LINES = 4;

/** One entry for each day that has reads. */
export function sumByDay(reads: readonly Reads[]): Reads[] {
  return rollups(
    reads,
    (ofDay) => ({
      released: sum(ofDay, ({ released }) => released),
      refused: sum(ofDay, ({ refused }) => refused),
    }),
    ({ date }) => date,
  ).map(([date, counts]) => ({ date, ...counts }));
}

/**
 * Released and refused reads as bars by day, from the first to the last day (YYYY-MM-DD). Refused ones are hatched, so that they differ in
 * more than the colour. `children` holds the same numbers as an accessible table.
 */
export function ReadBars({
  title,
  reads,
  from,
  to,
  today,
  released,
  refused,
  onOpen,
  children,
}: {
  readonly title: string;
  readonly reads: readonly Reads[];
  readonly from: string;
  readonly to: string;
  /** The day to name so. */
  readonly today?: string;
  readonly released: string;
  readonly refused: string;
  /** Opens a day whose bar is pressed: a shorter way to what the page also offers without a pointer. */
  readonly onOpen?: (day: string) => void;
  readonly children: ReactNode;
}) {
  const days = daysBetween(from, to);
  const byDay = new Map(sumByDay(reads).map((counts) => [counts.date, counts]));
  const highest = max(days, (day) => (byDay.get(day)?.released ?? 0) + (byDay.get(day)?.refused ?? 0));
  const [, high] = nice(0, Math.max(1, highest ?? 0), LINES);
  const kinds = [
    { kind: 'refused', name: refused },
    { kind: 'released', name: released },
  ] as const;
  return (
    <figure className={style['figure']}>
      <figcaption>{title}</figcaption>
      <Plot days={days} today={today} high={high} lines={ticks(0, high, LINES).filter(Number.isInteger)}>
        <div className={style['bars']}>
          {days.map((day) => {
            const counts = byDay.get(day);
            const opens = counts && onOpen && { className: style['opens'], onClick: () => onOpen(day) };
            return (
              <div key={day} {...opens}>
                {kinds.map(({ kind, name }) =>
                  counts === undefined || counts[kind] === 0 ? null : (
                    <div
                      key={kind}
                      className={style[kind]}
                      style={{ height: percent(counts[kind], high) }}
                      title={`${formatDate(day)}, ${name}: ${formatNumber(counts[kind])}`}
                    />
                  ),
                )}
              </div>
            );
          })}
        </div>
      </Plot>
      <ul className={style['legend']}>
        {kinds.toReversed().map(({ kind, name }) => (
          <li key={kind}>
            <span className={style[kind]} aria-hidden="true" />
            {name}
          </li>
        ))}
      </ul>
      {children}
    </figure>
  );
}
