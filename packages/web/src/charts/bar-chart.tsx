import { rollup, rollups } from 'd3-array';
import { text } from '../texts/frame.ts';
import { formatNumber } from '../ui/formats.ts';
import { formatDate } from '../ui/time.tsx';
import { DataTable } from './data-table.tsx';
import { type Bar, COLOURS, StackedBars } from './stacked-bars.tsx';

export type { Bar };

// Not the name of any series.
const OTHERS = '';

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
  const stacked = joinSmallSeries(bars);
  const ids = [...new Set(stacked.map((bar) => bar.series))];
  const series = ids.map((id) => ({ id, name: id === OTHERS ? text('chartOthers') : nameOf(id) }));
  return (
    <StackedBars title={title} bars={stacked} series={series} from={from} to={to}>
      <DataTable
        columns={[text('chartDay'), seriesTitle, text('chartCount')]}
        rows={() => bars.map((bar) => [formatDate(bar.date), nameOf(bar.series), formatNumber(bar.value)])}
      />
    </StackedBars>
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

function sumOf(bars: readonly Bar[]): number {
  return bars.reduce((sum, bar) => sum + bar.value, 0);
}
