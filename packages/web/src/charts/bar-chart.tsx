import { max, rollup, rollups } from 'd3-array';
import { scaleBand, scaleLinear } from 'd3-scale';
import { formatNumber } from '../ui/number.ts';
import { formatDate, formatDayOfMonth } from '../ui/time.tsx';
import style from './chart.module.css';
import { DataTable } from './data-table.tsx';
import { useWidth } from './use-width.ts';

export interface Bar {
  /** The day (YYYY-MM-DD); bars of one day stand on each other. */
  readonly date: string;
  readonly series: string;
  readonly value: number;
}

const HEIGHT = 200;
const MARGIN = { top: 8, right: 8, bottom: 22, left: 44 };
const COLOURS = 5;
const OTHERS = 'others';
const LABEL_WIDTH = 80;
const MIN_DAYS = 14;
const DAY_MS = 86_400_000;

/** Stacked bars by day, with the same numbers as a table for those who do not see them. */
export function BarChart({ title, bars }: { readonly title: string; readonly bars: readonly Bar[] }) {
  const [svg, width] = useWidth<SVGSVGElement>();
  const stacked = joinSmallSeries(bars);
  const series = [...new Set(stacked.map((bar) => bar.series))];
  const byDay = Map.groupBy(stacked, (bar) => bar.date);
  const days = toDays([...byDay.keys()]);
  const x = scaleBand(days, [MARGIN.left, width - MARGIN.right]).padding(0.2);
  const highest = max(byDay.values(), (stack) => sumOf(stack)) ?? 0;
  const y = scaleLinear([0, Math.max(1, highest)], [HEIGHT - MARGIN.bottom, MARGIN.top]).nice(4);
  const every = Math.ceil((days.length * LABEL_WIDTH) / width);
  return (
    <figure className={style['figure']}>
      <figcaption>{title}</figcaption>
      <svg ref={svg} className={style['svg']} height={HEIGHT} aria-hidden="true">
        {y
          .ticks(4)
          .filter(Number.isInteger)
          .map((tick) => (
            <g key={tick} transform={`translate(0 ${y(tick)})`}>
              <line className={style['axis']} x1={MARGIN.left} x2={width - MARGIN.right} />
              <text className={style['label']} x={MARGIN.left - 8} dy="0.32em" textAnchor="end">
                {formatNumber(tick)}
              </text>
            </g>
          ))}
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
                <title>{`${formatDate(day)}, ${bar.series}: ${formatNumber(bar.value)}`}</title>
              </rect>
            ))}
            {index % every === 0 ? (
              <text className={style['label']} x={x.bandwidth() / 2} y={HEIGHT - 6} textAnchor="middle">
                {formatDayOfMonth(day)}
              </text>
            ) : null}
          </g>
        ))}
      </svg>
      <ul className={style['legend']}>
        {series.map((name) => (
          <li key={name}>
            <svg viewBox="0 0 12 12" aria-hidden="true">
              <rect width="12" height="12" rx="3" className={classOf(series, name)} />
            </svg>
            {name}
          </li>
        ))}
      </ul>
      <DataTable
        columns={['When', 'Who', 'How often']}
        rows={() => bars.map((bar) => [formatDate(bar.date), bar.series, formatNumber(bar.value)])}
      />
    </figure>
  );
}

/** The same bars with all but the largest series as one, so that each has a colour of its own. */
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

/** Every day from the first to the last, at least two weeks. */
function toDays(dates: readonly string[]): string[] {
  const times = dates.map((date) => Date.parse(date));
  const last = Math.max(...times);
  const count = Math.max(MIN_DAYS, (last - Math.min(...times)) / DAY_MS + 1);
  return Array.from({ length: count }, (_, index) =>
    new Date(last - (count - 1 - index) * DAY_MS).toISOString().slice(0, 10),
  );
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
