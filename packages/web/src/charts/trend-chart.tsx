import { extent } from 'd3-array';
import { scaleLinear, scaleUtc } from 'd3-scale';
import { area, line } from 'd3-shape';
import type { TrendPoint } from '../api/resources.ts';
import { addDays, toDay, today } from '../ui/days.ts';
import { formatNumber } from '../ui/formats.ts';
import { formatDayOfMonth } from '../ui/time.tsx';
import { Canvas, ValueAxis } from './canvas.tsx';
import style from './chart.module.css';
import { DataTable } from './data-table.tsx';

const HEIGHT = 140;
const LABEL_WIDTH = 90;
// The service's default: points of the last 30 days.
const SHOWN_DAYS = 30;
const MARGIN = { top: 8, right: 22, bottom: 24, left: 40 };

/** One type over time, and the same numbers as an accessible table. */
export function TrendChart({ points }: { readonly points: readonly TrendPoint[] }) {
  const [newest] = points;
  if (newest === undefined) return null;
  return (
    <figure className={style['figure']}>
      <figcaption>
        {newest.type} <span className={style['unit']}>{toUnitText(newest.unit)}</span>
      </figcaption>
      <Canvas height={HEIGHT}>{(width) => <Trend points={points} width={width} />}</Canvas>
      <DataTable
        columns={['Day', 'Value', 'Lowest', 'Highest']}
        rows={() =>
          points.map((point) => [
            formatDayOfMonth(dayOf(point)),
            ...[point.value, point.min, point.max].map(formatNumber),
          ])
        }
      />
    </figure>
  );
}

/** A line, and the range of readings where points are averages of single readings. */
function Trend({ points, width }: { readonly points: readonly TrendPoint[]; readonly width: number }) {
  const ordered = points.toSorted((one, other) => one.start.localeCompare(other.start));
  const isAveraged = ordered.every(({ value, max }) => value <= max);
  const { x, y } = toScales(ordered, { width, isAveraged });
  const at = (point: TrendPoint) => x(Date.parse(dayOf(point)));
  const path = line<TrendPoint>(at, (point) => y(point.value))(ordered) ?? '';
  const band =
    area<TrendPoint>(
      at,
      (point) => y(point.min),
      (point) => y(point.max),
    )(ordered) ?? '';
  return (
    <>
      <ValueAxis ticks={y.ticks(3)} y={y} from={MARGIN.left} to={width - MARGIN.right} />
      {isAveraged ? <path className={style['band']} d={band} /> : null}
      <path className={style['line']} d={path} />
      {ordered.map((point) => (
        <circle key={point.start} className={style['dot']} cx={at(point)} cy={y(point.value)} r="2.2">
          <title>{`${formatDayOfMonth(dayOf(point))}: ${formatNumber(point.value)}`}</title>
        </circle>
      ))}
      {x.ticks(Math.max(3, Math.floor(width / LABEL_WIDTH) - 1)).map((tick) => (
        <text key={tick.getTime()} className={style['label']} x={x(tick)} y={HEIGHT - 5} textAnchor="middle">
          {formatDayOfMonth(toDay(tick.getTime()))}
        </text>
      ))}
    </>
  );
}

/** The date of a point in the person's time zone, which `start` uses. */
function dayOf({ start }: TrendPoint): string {
  return start.slice(0, 10);
}

function toScales(
  points: readonly TrendPoint[],
  { width, isAveraged }: { readonly width: number; readonly isAveraged: boolean },
) {
  const [first = '', last = ''] = extent([addDays(today(), 1 - SHOWN_DAYS), today(), ...points.map(dayOf)]);
  const values = isAveraged
    ? points.flatMap(({ min, max }) => [min, max])
    : [0, ...points.map(({ value }) => value)];
  const [low = 0, high = 1] = extent(values);
  const room = low === high ? 1 : 0;
  return {
    x: scaleUtc([Date.parse(first), Date.parse(last)], [MARGIN.left, width - MARGIN.right]),
    y: scaleLinear([low - room, high + room], [HEIGHT - MARGIN.bottom, MARGIN.top]).nice(3),
  };
}

const UNITS: Readonly<Record<string, string>> = {
  '/min': 'per minute',
  'mm[Hg]': 'mmHg',
  Cel: '°C',
  '{steps}': '',
  '{flights}': '',
  'kg/m2': 'kg/m²',
};

/** A UCUM unit in common notation. */
export function toUnitText(unit: string): string {
  return UNITS[unit] ?? unit;
}
