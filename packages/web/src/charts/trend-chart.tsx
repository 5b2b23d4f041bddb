import { findMetricByName, type MetricKey } from '@phds/catalog/metrics';
import { extent } from 'd3-array';
import { scaleLinear, scaleUtc } from 'd3-scale';
import { area, line } from 'd3-shape';
import type { TrendPoint as AnyPoint } from '../api/resources.ts';
import { text } from '../texts/frame.ts';
import { addDays, toDay, today } from '../ui/days.ts';
import { formatNumber } from '../ui/formats.ts';
import { formatDayOfMonth } from '../ui/time.tsx';
import { Canvas, ValueAxis } from './canvas.tsx';
import style from './chart.module.css';
import { DataTable } from './data-table.tsx';

const HEIGHT = 140;
const LABEL_WIDTH = 90;
const HOUR_MINUTES = 60;
// The service's default: points of the last 30 days.
const SHOWN_DAYS = 30;
const MARGIN = { top: 8, right: 22, bottom: 24, left: 40 };

/** A point with a value. */
export interface TrendPoint extends AnyPoint {
  readonly value: number;
  readonly min: number;
  readonly max: number;
}

/** Whether a point has a value. Readings may have none. */
export function hasValue(point: AnyPoint): point is TrendPoint {
  return point.value !== null && point.min !== null && point.max !== null;
}

/** One type over time, and the same numbers as an accessible table. `name` is the type in the page's language. */
export function TrendChart({
  points,
  name,
}: {
  readonly points: readonly TrendPoint[];
  readonly name: string;
}) {
  const [newest] = points;
  if (newest === undefined) return null;
  return (
    <figure className={style['figure']}>
      <figcaption>
        {name} <span className={style['unit']}>{toUnitText(newest.unit, newest.type)}</span>
      </figcaption>
      <Canvas height={HEIGHT}>{(width) => <Trend points={points} width={width} />}</Canvas>
      {points.some(isUnfinished) ? (
        <ul className={style['legend']}>
          <li>
            <svg viewBox="0 0 12 12" aria-hidden="true">
              <circle className={style['unfinished']} cx="6" cy="6" r="4" />
            </svg>
            {text('chartToday')}
          </li>
        </ul>
      ) : null}
      <DataTable
        columns={[text('chartDay'), text('chartValue'), text('chartLowest'), text('chartHighest')]}
        rows={() =>
          points.map((point) => [
            formatDayOfMonth(dayOf(point)),
            valueText(point),
            ...[point.min, point.max].map(formatNumber),
          ])
        }
      />
    </figure>
  );
}

/** Whether a point is the total of a day that is not over. It would look like a sudden fall. */
function isUnfinished({ type, end }: TrendPoint): boolean {
  return isTotal(type) && Date.parse(end) > Date.now();
}

function isTotal(type: string): boolean {
  return findMetricByName(type)?.kind === 'additive';
}

function valueText(point: TrendPoint): string {
  const value = formatNumber(point.value);
  return isUnfinished(point) ? text('chartTodayValue', { value }) : value;
}

/** A line, and the range of readings where points are averages of single readings. The line ends with the last whole day. */
function Trend({ points, width }: { readonly points: readonly TrendPoint[]; readonly width: number }) {
  const all = points.toSorted((one, other) => one.start.localeCompare(other.start));
  const ordered = all.filter((point) => !isUnfinished(point));
  const isAveraged = all.every(({ type }) => !isTotal(type));
  const { x, y } = toScales(all, { width, isAveraged });
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
      {all.map((point) => (
        <circle
          key={point.start}
          className={isUnfinished(point) ? style['unfinished'] : style['dot']}
          cx={at(point)}
          cy={y(point.value)}
          r={isUnfinished(point) || all.length === 1 ? 4.5 : 2.2}
        >
          <title>{`${formatDayOfMonth(dayOf(point))}: ${valueText(point)}`}</title>
        </circle>
      ))}
      {all.length > 1
        ? null
        : all.map((point) => (
            <SinglePoint key={point.start} point={point} x={at(point)} y={y(point.value)} width={width} />
          ))}
      {x.ticks(Math.max(3, Math.floor(width / LABEL_WIDTH) - 1)).map((tick) => (
        <text
          key={tick.getTime()}
          className={style['label']}
          x={x(tick)}
          y={HEIGHT - 5}
          textAnchor={x(tick) > width - LABEL_WIDTH / 2 ? 'end' : 'middle'}
        >
          {formatDayOfMonth(toDay(tick.getTime()))}
        </text>
      ))}
    </>
  );
}

/** A single point has no line, so it names its day and value. */
function SinglePoint({
  point,
  x,
  y,
  width,
}: {
  readonly point: TrendPoint;
  readonly x: number;
  readonly y: number;
  readonly width: number;
}) {
  const isRight = x > width / 2;
  return (
    <text
      className={style['label']}
      x={isRight ? x - 9 : x + 9}
      y={y}
      dy="0.32em"
      textAnchor={isRight ? 'end' : 'start'}
    >
      {`${formatDayOfMonth(dayOf(point))}: ${formatNumber(point.value)}`}
    </text>
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
  'mm[Hg]': 'mmHg',
  Cel: '°C',
  '{steps}': '',
  '{flights}': '',
  'kg/m2': 'kg/m²',
};

/** Types of readings that count heartbeats. */
const BEATS: readonly (MetricKey | undefined)[] = ['heart-rate', 'resting-hr', 'walking-hr', 'ecg'];

/** The UCUM unit of a type of reading in common notation. */
export function toUnitText(unit: string, type: string): string {
  if (unit !== '/min') return UNITS[unit] ?? unit;
  return text(BEATS.includes(findMetricByName(type)?.key) ? 'unitBeats' : 'unitPerMinute');
}

/** A value with its unit, as people say it: “7 h 40 min”, “69 beats per minute”. */
export function measureText(value: number, unit: string, type: string): string {
  if (unit === 'min' && value >= HOUR_MINUTES) {
    const minutes = Math.round(value);
    return text('hoursMinutes', {
      hours: Math.floor(minutes / HOUR_MINUTES),
      minutes: minutes % HOUR_MINUTES,
    });
  }
  return `${formatNumber(value)} ${toUnitText(unit, type)}`.trim();
}
