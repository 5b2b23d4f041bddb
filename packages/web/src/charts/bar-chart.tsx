import { max, rollup, rollups } from 'd3-array';
import { scaleBand, scaleLinear } from 'd3-scale';
import { daysBetween } from '../ui/days.ts';
import { formatNumber } from '../ui/formats.ts';
import { formatDate, formatDayOfMonth } from '../ui/time.tsx';
import { Canvas, ValueAxis } from './canvas.tsx';
import style from './chart.module.css';
import { DataTable } from './data-table.tsx';

export interface Bar {
  /** The day (YYYY-MM-DD); bars of one day are stacked. */
  readonly date: string;
  /** The series of the bar; one bar for each day and series. */
  readonly series: string;
  readonly value: number;
}

const HEIGHT = 200;
const MARGIN = { top: 8, right: 8, bottom: 22, left: 44 };
const COLOURS = 5;
// Not the name of any series.
const OTHERS = '';
const OTHERS_TITLE = 'others';
const LABEL_WIDTH = 80;

/** Stacked bars by day, from the first to the last day (YYYY-MM-DD), and the same numbers as an accessible table. */
export function BarChart({
  title,
  bars,
  seriesTitle,
  nameOf = (name) => name,
  from,
  to,
}: {
  readonly title: string;
  readonly bars: readonly Bar[];
  /** Column title for the series. */
  readonly seriesTitle: string;
  /** A unique display name for each series. */
  readonly nameOf?: (series: string) => string;
  readonly from: string;
  readonly to: string;
}) {
  const days = daysBetween(from, to);
  const stacked = joinSmallSeries(bars);
  const series = [...new Set(stacked.map((bar) => bar.series))];
  const shownNameOf = (name: string) => (name === OTHERS ? OTHERS_TITLE : nameOf(name));
  return (
    <figure className={style['figure']}>
      <figcaption>{title}</figcaption>
      <Canvas height={HEIGHT}>
        {(width) => <Bars days={days} bars={stacked} series={series} nameOf={shownNameOf} width={width} />}
      </Canvas>
      <ul className={style['legend']}>
        {series.map((name) => (
          <li key={name}>
            <svg viewBox="0 0 12 12" aria-hidden="true">
              <rect width="12" height="12" rx="3" className={classOf(series, name)} />
            </svg>
            {shownNameOf(name)}
          </li>
        ))}
      </ul>
      <DataTable
        columns={['When', seriesTitle, 'How often']}
        rows={() => bars.map((bar) => [formatDate(bar.date), nameOf(bar.series), formatNumber(bar.value)])}
      />
    </figure>
  );
}

function Bars({
  days,
  bars,
  series,
  nameOf,
  width,
}: {
  readonly days: readonly string[];
  readonly bars: readonly Bar[];
  readonly series: readonly string[];
  readonly nameOf: (series: string) => string;
  readonly width: number;
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
      {days.map((day, index) => (
        <g key={day} transform={`translate(${x(day) ?? 0} 0)`}>
          {toStack(byDay.get(day) ?? [], series).map(({ bar, from, to }) => (
            <rect
              key={bar.series}
              className={classOf(series, bar.series)}
              y={y(to)}
              width={x.bandwidth()}
              height={Math.max(1, y(from) - y(to))}
              rx="2"
            >
              <title>{`${formatDate(day)}, ${nameOf(bar.series)}: ${formatNumber(bar.value)}`}</title>
            </rect>
          ))}
          {index % every === 0 ? (
            <text className={style['label']} x={x.bandwidth() / 2} y={HEIGHT - 6} textAnchor="middle">
              {formatDayOfMonth(day)}
            </text>
          ) : null}
        </g>
      ))}
    </>
  );
}

/** Merges all but the largest series into one, so that each has its own colour. */
function joinSmallSeries(bars: readonly Bar[]): readonly Bar[] {
  const totals = rollup(bars, sumOf, (bar) => bar.series);
  if (totals.size <= COLOURS) return bars;
  const bySize = [...totals].toSorted(([, one], [, other]) => other - one);
  const large = new Set(bySize.slice(0, COLOURS - 1).map(([series]) => series));
  const days = rollups(
    bars,
    sumOf,
    ({ date }) => date,
    ({ series }) => (large.has(series) ? series : OTHERS),
  );
  return days.flatMap(([date, sums]) => sums.map(([series, value]) => ({ date, series, value })));
}

function sumOf(stack: readonly Bar[]): number {
  return stack.reduce((sum, bar) => sum + bar.value, 0);
}

function toStack(stack: readonly Bar[], series: readonly string[]) {
  let top = 0;
  const ordered = stack.toSorted((one, other) => series.indexOf(one.series) - series.indexOf(other.series));
  return ordered.map((bar) => {
    const from = top;
    top += bar.value;
    return { bar, from, to: top };
  });
}

function classOf(series: readonly string[], name: string): string {
  return style[`series${series.indexOf(name) % COLOURS}`] ?? '';
}
