import { findMetricByName, type MetricKey } from '@phds/catalog/metrics';
import { extent, nice, ticks } from 'd3-array';
import type { TrendPoint as AnyPoint } from '../api/resources.ts';
import { text } from '../texts/frame.ts';
import { addDays, daysBetween, today } from '../ui/days.ts';
import { formatNumber } from '../ui/formats.ts';
import { formatDayOfMonth } from '../ui/time.tsx';
import style from './chart.module.css';
import { DataTable } from './data-table.tsx';
import { Plot } from './plot.tsx';

const LINES = 3;
const HOUR_MINUTES = 60;
// The service's default: points of the last 30 days.
const SHOWN_DAYS = 30;

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
        {name}{' '}
        <span className={style['unit']}>
          {isInHours(points) ? text('unitHours') : toUnitText(newest.unit, newest.type)}
        </span>
      </figcaption>
      <Trend points={points} />
      {points.length === 1 ? <span>{pointText(newest)}</span> : null}
      {points.some(isUnfinished) ? (
        <ul className={style['legend']}>
          <li>
            <span className={style['ring']} aria-hidden="true" />
            {text('chartToday')}
          </li>
        </ul>
      ) : null}
      <DataTable
        title={name}
        columns={[text('chartDay'), text('chartValue'), text('chartLowest'), text('chartHighest')]}
        rows={() =>
          points.map((point) => [
            formatDayOfMonth(dayOf(point)),
            valueText(point),
            ...[point.min, point.max].map((value) => numberText(value, point)),
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

/** Charts of two hours or more have hours. */
function isInHours(points: readonly TrendPoint[]): boolean {
  return points.some(({ unit, max, value }) => unit === 'min' && Math.max(max, value) >= 2 * HOUR_MINUTES);
}

/** A value without its unit, except minutes. */
function numberText(value: number, { unit, type }: TrendPoint): string {
  return unit === 'min' ? measureText(value, unit, type) : formatNumber(value);
}

function valueText(point: TrendPoint): string {
  const value = numberText(point.value, point);
  return isUnfinished(point) ? text('chartTodayValue', { value }) : value;
}

/** A line, and the range of readings where points are averages of single readings. The line ends with the last whole day. */
function Trend({ points }: { readonly points: readonly TrendPoint[] }) {
  const ordered = points.toSorted((one, other) => one.start.localeCompare(other.start));
  const whole = ordered.filter((point) => !isUnfinished(point));
  const isAveraged = points.every(({ type }) => !isTotal(type));
  const [first = '', last = ''] = extent([addDays(today(), 1 - SHOWN_DAYS), today(), ...points.map(dayOf)]);
  const days = daysBetween(first, last);
  const values = isAveraged
    ? points.flatMap(({ min, max }) => [min, max])
    : [0, ...points.map(({ value }) => value)];
  const [lowest = 0, highest = 1] = extent(values);
  const room = lowest === highest ? 1 : 0;
  const one = isInHours(points) ? HOUR_MINUTES : 1;
  const [low, high] = nice((lowest - room) / one, (highest + room) / one, LINES);
  const x = (point: TrendPoint) => (100 * (days.indexOf(dayOf(point)) + 0.5)) / days.length;
  const y = (value: number) => (100 * (high - value / one)) / (high - low);
  const at = (point: TrendPoint, value = point.value) => `${x(point)} ${y(value)}`;
  const band = [
    ...whole.map((point) => at(point, point.max)),
    ...whole.toReversed().map((point) => at(point, point.min)),
  ];
  return (
    <Plot days={days} low={low} high={high} lines={ticks(low, high, LINES)}>
      <svg className={style['trend']} viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">
        {isAveraged && whole.length > 0 ? <path className={style['band']} d={`M${band.join('L')}`} /> : null}
        {whole.length > 0 ? (
          <path className={style['path']} d={`M${whole.map((point) => at(point)).join('L')}`} />
        ) : null}
        {ordered.map((point) => (
          // A line without length is a dot, which keeps its form in a drawing that is stretched.
          <g key={point.start} className={isUnfinished(point) ? style['unfinished'] : style['dot']}>
            <path d={`M${at(point)}h0`}>
              <title>{pointText(point)}</title>
            </path>
            {isUnfinished(point) ? <path className={style['hole']} d={`M${at(point)}h0`} /> : null}
          </g>
        ))}
      </svg>
    </Plot>
  );
}

function pointText(point: TrendPoint): string {
  return `${formatDayOfMonth(dayOf(point))}: ${valueText(point)}`;
}

/** The date of a point in the person's time zone, which `start` uses. */
function dayOf({ start }: TrendPoint): string {
  return start.slice(0, 10);
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
function toUnitText(unit: string, type: string): string {
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
