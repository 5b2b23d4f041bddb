import { max } from 'd3-array';
import { type ScaleBand, scaleBand, scaleLinear } from 'd3-scale';
import { type ReactNode, useId } from 'react';
import { text } from '../texts/frame.ts';
import { daysBetween } from '../ui/days.ts';
import { formatNumber } from '../ui/formats.ts';
import { formatDate, formatDayOfMonth } from '../ui/time.tsx';
import { Canvas, ValueAxis } from './canvas.tsx';
import style from './chart.module.css';

export interface Bar {
  /** The day (YYYY-MM-DD); bars of one day are stacked. */
  readonly date: string;
  /** The id of its series; one bar for each day and series. */
  readonly series: string;
  readonly value: number;
}

export interface Series {
  readonly id: string;
  readonly name: string;
  /** Hatched bars differ from others in more than the colour. */
  readonly isHatched?: boolean;
}

interface Bars {
  readonly bars: readonly Bar[];
  /** In the order of stacking; at most COLOURS. */
  readonly series: readonly Series[];
}

/** There are so many different colours of series. */
export const COLOURS = 5;

const HEIGHT = 200;
const MARGIN = { top: 8, right: 8, bottom: 22, left: 44 };
const LABEL_WIDTH = 80;

/** Stacked bars by day, from the first to the last day (YYYY-MM-DD). `children` holds the same numbers as an accessible table. */
export function StackedBars({
  title,
  bars,
  series,
  from,
  to,
  today,
  onOpen,
  children,
}: Bars & {
  readonly title: string;
  readonly from: string;
  readonly to: string;
  /** The day to name so. */
  readonly today?: string;
  /** Opens a day whose bar is pressed: a shorter way to what the page also offers without a pointer. */
  readonly onOpen?: (day: string) => void;
  readonly children: ReactNode;
}) {
  const pattern = useId();
  const fillOf = (index: number) => (series[index]?.isHatched === true ? { fill: `url(#${pattern})` } : {});
  return (
    <figure className={style['figure']}>
      <figcaption>{title}</figcaption>
      <Canvas height={HEIGHT}>
        {(width) => (
          <>
            <Hatching id={pattern} />
            <Days
              days={daysBetween(from, to)}
              bars={bars}
              series={series}
              fillOf={fillOf}
              width={width}
              today={today}
              onOpen={onOpen}
            />
          </>
        )}
      </Canvas>
      <ul className={style['legend']}>
        {series.map(({ id, name }, index) => (
          <li key={id}>
            <svg viewBox="0 0 12 12" aria-hidden="true">
              <rect
                width="12"
                height="12"
                rx="3"
                className={classOf(series[index], index)}
                {...fillOf(index)}
              />
            </svg>
            {name}
          </li>
        ))}
      </ul>
      {children}
    </figure>
  );
}

function Hatching({ id }: { readonly id: string }) {
  return (
    <pattern id={id} width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
      <rect className={style['hatchGround']} width="6" height="6" />
      <rect className={style['hatchLine']} width="3" height="6" />
    </pattern>
  );
}

function Days({
  days,
  bars,
  series,
  fillOf,
  width,
  today,
  onOpen,
}: Bars & {
  readonly days: readonly string[];
  readonly fillOf: (index: number) => { fill?: string };
  readonly width: number;
  readonly today: string | undefined;
  readonly onOpen: ((day: string) => void) | undefined;
}) {
  const byDay = Map.groupBy(bars, (bar) => bar.date);
  const x = scaleBand(days, [MARGIN.left, width - MARGIN.right]).padding(0.2);
  const highest = max(byDay.values(), (stack) => sumOf(stack)) ?? 0;
  const y = scaleLinear([0, Math.max(1, highest)], [HEIGHT - MARGIN.bottom, MARGIN.top]).nice(4);
  const every = Math.ceil((days.length * LABEL_WIDTH) / width);
  return (
    <>
      <ValueAxis
        ticks={y.ticks(4).filter(Number.isInteger)}
        y={y}
        from={MARGIN.left}
        to={width - MARGIN.right}
      />
      {days.map((day) => (
        <g
          key={day}
          transform={`translate(${x(day) ?? 0} 0)`}
          {...(onOpen === undefined || !byDay.has(day)
            ? {}
            : { className: style['opens'], onClick: () => onOpen(day) })}
        >
          {toStack(byDay.get(day) ?? [], series).map(({ bar, place, from, to }) => (
            <rect
              key={bar.series}
              className={classOf(series[place], place)}
              {...fillOf(place)}
              y={y(to)}
              width={x.bandwidth()}
              height={Math.max(1, y(from) - y(to))}
              rx="2"
            >
              <title>{`${formatDate(day)}, ${series[place]?.name}: ${formatNumber(bar.value)}`}</title>
            </rect>
          ))}
        </g>
      ))}
      <DayLabels days={days} x={x} every={every} today={today} />
    </>
  );
}

/** The dates of some days below their bars. Today has its own label, for which its neighbours make room. */
function DayLabels({
  days,
  x,
  every,
  today,
}: {
  readonly days: readonly string[];
  readonly x: ScaleBand<string>;
  readonly every: number;
  readonly today: string | undefined;
}) {
  const present = days.indexOf(today ?? '');
  return days.map((day, index) => {
    const isUsual = index % every === 0 && (present < 0 || Math.abs(index - present) >= every);
    if (!isUsual && index !== present) return null;
    const isLast = index === days.length - 1;
    return (
      <text
        key={day}
        className={style['label']}
        x={(x(day) ?? 0) + x.bandwidth() / (isLast ? 1 : 2)}
        y={HEIGHT - 6}
        textAnchor={isLast ? 'end' : 'middle'}
      >
        {index === present ? text('today') : formatDayOfMonth(day)}
      </text>
    );
  });
}

function sumOf(stack: readonly Bar[]): number {
  return stack.reduce((sum, bar) => sum + bar.value, 0);
}

function toStack(stack: readonly Bar[], series: readonly Series[]) {
  let top = 0;
  const placeOf = (bar: Bar) => series.findIndex(({ id }) => id === bar.series);
  const ordered = stack.toSorted((one, other) => placeOf(one) - placeOf(other));
  return ordered.map((bar) => {
    const from = top;
    top += bar.value;
    return { bar, place: placeOf(bar), from, to: top };
  });
}

function classOf(series: Series | undefined, place: number): string {
  if (series?.isHatched === true) return style['hatched'] ?? '';
  return style[`series${place % COLOURS}`] ?? '';
}
