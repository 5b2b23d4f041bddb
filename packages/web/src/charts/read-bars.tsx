import { max, rollups, sum } from 'd3-array';
import { type ScaleBand, scaleBand, scaleLinear } from 'd3-scale';
import { type ReactNode, useId } from 'react';
import { text } from '../texts/frame.ts';
import { daysBetween } from '../ui/days.ts';
import { formatNumber } from '../ui/formats.ts';
import { formatDate, formatDayOfMonth } from '../ui/time.tsx';
import { Canvas, ValueAxis } from './canvas.tsx';
import style from './chart.module.css';

/** The reads of a day (YYYY-MM-DD). */
interface Reads {
  readonly date: string;
  readonly released: number;
  readonly refused: number;
}

const HEIGHT = 200;
const MARGIN = { top: 8, right: 8, bottom: 22, left: 44 };
const LABEL_WIDTH = 80;

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
  released,
  refused,
  children,
  ...days
}: DaysProps & {
  readonly title: string;
  /** What the two are called. */
  readonly released: string;
  readonly refused: string;
  readonly children: ReactNode;
}) {
  const pattern = useId();
  const hatched = { className: style['hatched'], fill: `url(#${pattern})` };
  const kinds = [
    { name: released, look: { className: style['released'] } },
    { name: refused, look: hatched },
  ];
  return (
    <figure className={style['figure']}>
      <figcaption>{title}</figcaption>
      <Canvas height={HEIGHT}>
        {(width) => (
          <>
            <Hatching id={pattern} />
            <Days {...days} kinds={kinds} width={width} />
          </>
        )}
      </Canvas>
      <ul className={style['legend']}>
        {kinds.map(({ name, look }) => (
          <li key={name}>
            <svg viewBox="0 0 12 12" aria-hidden="true">
              <rect width="12" height="12" rx="3" {...look} />
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

interface DaysProps {
  readonly reads: readonly Reads[];
  readonly from: string;
  readonly to: string;
  /** The day to name so. */
  readonly today?: string;
  /** Opens a day whose bar is pressed: a shorter way to what the page also offers without a pointer. */
  readonly onOpen?: (day: string) => void;
}

function Days({
  reads,
  from,
  to,
  today,
  onOpen,
  kinds,
  width,
}: DaysProps & {
  readonly kinds: readonly { readonly name: string; readonly look: object }[];
  readonly width: number;
}) {
  const days = daysBetween(from, to);
  const drawn = sumByDay(reads).filter(({ date }) => days.includes(date));
  const x = scaleBand(days, [MARGIN.left, width - MARGIN.right]).padding(0.2);
  const highest = max(drawn, ({ released, refused }) => released + refused) ?? 0;
  const y = scaleLinear([0, Math.max(1, highest)], [HEIGHT - MARGIN.bottom, MARGIN.top]).nice(4);
  const every = Math.ceil((days.length * LABEL_WIDTH) / width);
  const ticks = y.ticks(4).filter(Number.isInteger);
  return (
    <>
      <ValueAxis ticks={ticks} y={y} from={MARGIN.left} to={width - MARGIN.right} />
      {drawn.map(({ date, released, refused }) => (
        <g
          key={date}
          transform={`translate(${x(date) ?? 0} 0)`}
          {...(onOpen && { className: style['opens'], onClick: () => onOpen(date) })}
        >
          {[
            { from: 0, count: released, ...kinds[0] },
            { from: released, count: refused, ...kinds[1] },
          ].map(({ from: base, count, name, look }) =>
            count === 0 ? null : (
              <rect
                key={name}
                y={y(base + count)}
                width={x.bandwidth()}
                height={Math.max(1, y(base) - y(base + count))}
                rx="2"
                {...look}
              >
                <title>{`${formatDate(date)}, ${name}: ${formatNumber(count)}`}</title>
              </rect>
            ),
          )}
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
