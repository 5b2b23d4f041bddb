import { extent } from 'd3-array';
import { scaleLinear, scaleTime } from 'd3-scale';
import { area, line } from 'd3-shape';
import type { TrendPoint } from '../api/resources.ts';
import style from './chart.module.css';
import { DataTable } from './data-table.tsx';

const WIDTH = 320;
const HEIGHT = 120;
const MARGIN = { top: 8, right: 6, bottom: 18, left: 40 };
const dayFormat = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });

/** One type over time: a line, and the span between lowest and highest reading where single readings were averaged. */
export function TrendChart({ points }: { readonly points: readonly TrendPoint[] }) {
  const ordered = points.toSorted((one, other) => one.start.localeCompare(other.start));
  const [newest] = points;
  if (newest === undefined) return null;
  const isAveraged = ordered.every(({ value, max }) => value <= max);
  const { x, y } = toScales(ordered, isAveraged);
  const at = (point: TrendPoint) => x(new Date(point.start));
  const path = line<TrendPoint>(at, (point) => y(point.value))(ordered) ?? '';
  const band =
    area<TrendPoint>(
      at,
      (point) => y(point.min),
      (point) => y(point.max),
    )(ordered) ?? '';
  return (
    <figure className={style['figure']}>
      <figcaption>
        {newest.type} <span className={style['unit']}>{toUnitText(newest.unit)}</span>
      </figcaption>
      <svg className={style['svg']} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
        {y.ticks(3).map((tick) => (
          <g key={tick} transform={`translate(0 ${y(tick)})`}>
            <line className={style['axis']} x1={MARGIN.left} x2={WIDTH - MARGIN.right} />
            <text className={style['label']} x={MARGIN.left - 6} dy="0.32em" textAnchor="end">
              {tick.toLocaleString()}
            </text>
          </g>
        ))}
        {isAveraged ? <path className={style['band']} d={band} /> : null}
        <path className={style['line']} d={path} />
        {ordered.map((point) => (
          <circle key={point.start} className={style['dot']} cx={at(point)} cy={y(point.value)} r="2.2">
            <title>{`${dayFormat.format(new Date(point.start))}: ${point.value.toLocaleString()}`}</title>
          </circle>
        ))}
        {x.ticks(3).map((tick) => (
          <text
            key={tick.getTime()}
            className={style['label']}
            x={x(tick)}
            y={HEIGHT - 4}
            textAnchor="middle"
          >
            {dayFormat.format(tick)}
          </text>
        ))}
      </svg>
      <DataTable
        columns={['Day', 'Value', 'Lowest', 'Highest']}
        rows={points.map((point) => [
          dayFormat.format(new Date(point.start)),
          ...[point.value, point.min, point.max].map((value) => value.toLocaleString()),
        ])}
      />
    </figure>
  );
}

function toScales(points: readonly TrendPoint[], isAveraged: boolean) {
  const [first = 0, last = 1] = extent(points, ({ start }) => new Date(start).getTime());
  const values = isAveraged
    ? points.flatMap(({ min, max }) => [min, max])
    : [0, ...points.map(({ value }) => value)];
  const [low = 0, high = 1] = extent(values);
  const room = low === high ? 1 : 0;
  return {
    x: scaleTime([first, last === first ? first + 1 : last], [MARGIN.left, WIDTH - MARGIN.right]),
    y: scaleLinear([low - room, high + room], [HEIGHT - MARGIN.bottom, MARGIN.top]).nice(3),
  };
}

const UNITS: Readonly<Record<string, string>> = {
  '/min': 'a minute',
  'mm[Hg]': 'mmHg',
  Cel: '°C',
  '{steps}': '',
  '{flights}': '',
  'kg/m2': 'kg/m²',
};

/** A UCUM unit as people write it. */
export function toUnitText(unit: string): string {
  return UNITS[unit] ?? unit;
}
