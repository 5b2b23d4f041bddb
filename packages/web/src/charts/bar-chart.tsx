import { max } from 'd3-array';
import { scaleBand, scaleLinear } from 'd3-scale';
import { formatDate, formatDayOfMonth } from '../ui/time.tsx';
import style from './chart.module.css';
import { DataTable } from './data-table.tsx';

export interface Bar {
  /** The day (YYYY-MM-DD); bars of one day stand on each other. */
  readonly date: string;
  readonly series: string;
  readonly value: number;
}

const WIDTH = 720;
const HEIGHT = 200;
const MARGIN = { top: 8, right: 8, bottom: 22, left: 44 };
const COLOURS = 5;
const MAX_LABELS = 6;
const MIN_DAYS = 14;
const DAY_MS = 86_400_000;

/** Stacked bars by day, with the same numbers as a table for those who do not see them. */
export function BarChart({ title, bars }: { readonly title: string; readonly bars: readonly Bar[] }) {
  const series = [...new Set(bars.map((bar) => bar.series))];
  const byDay = Map.groupBy(bars, (bar) => bar.date);
  const days = toDays([...byDay.keys()]);
  const x = scaleBand(days, [MARGIN.left, WIDTH - MARGIN.right]).padding(0.2);
  const highest = max(byDay.values(), (stack) => sumOf(stack)) ?? 0;
  const y = scaleLinear([0, Math.max(1, highest)], [HEIGHT - MARGIN.bottom, MARGIN.top]).nice(4);
  const every = Math.ceil(days.length / MAX_LABELS);
  return (
    <figure className={style['figure']}>
      <figcaption>{title}</figcaption>
      <svg
        className={`${style['svg']} ${style['wide']}`}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        aria-hidden="true"
      >
        {y.ticks(4).map((tick) => (
          <g key={tick} transform={`translate(0 ${y(tick)})`}>
            <line className={style['axis']} x1={MARGIN.left} x2={WIDTH - MARGIN.right} />
            <text className={style['label']} x={MARGIN.left - 8} dy="0.32em" textAnchor="end">
              {tick.toLocaleString()}
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
                <title>{`${formatDate(day)}, ${bar.series}: ${bar.value.toLocaleString()}`}</title>
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
        rows={bars.map((bar) => [formatDate(bar.date), bar.series, bar.value.toLocaleString()])}
      />
    </figure>
  );
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
