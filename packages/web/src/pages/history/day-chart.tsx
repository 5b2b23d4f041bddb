import type { DayFilter } from '../../api/accesses.ts';
import type { AccessDay } from '../../api/resources.ts';
import { DataTable } from '../../charts/data-table.tsx';
import { StackedBars } from '../../charts/stacked-bars.tsx';
import { Card, Soft } from '../../ui/card.tsx';
import { localDay } from '../../ui/days.ts';
import { formatNumber } from '../../ui/formats.ts';
import { formatDate } from '../../ui/time.tsx';
import { text } from './texts.ts';

const SHARED = 'shared';
const BLOCKED = 'blocked';

/** How many reads each day had, shared and blocked, as bars and as a table. */
export function DayChart({
  days,
  period,
  onOpen,
}: {
  readonly days: readonly AccessDay[];
  readonly period: DayFilter;
  readonly onOpen: (day: string) => void;
}) {
  const totals = [...Map.groupBy(days, ({ date }) => date)].map(([date, ofDay]) => ({
    date,
    shared: sumOf(ofDay, ({ released }) => released),
    blocked: sumOf(ofDay, ({ refused }) => refused),
  }));
  const bars = totals.flatMap(({ date, shared, blocked }) => [
    { date, series: SHARED, value: shared },
    { date, series: BLOCKED, value: blocked },
  ]);
  return (
    <Card label={text('chartTitle')}>
      <StackedBars
        title={text('chartTitle')}
        bars={bars.filter(({ value }) => value > 0)}
        series={[
          { id: SHARED, name: text('shared') },
          { id: BLOCKED, name: text('blocked'), isHatched: true },
        ]}
        from={period.from}
        to={period.to}
        today={localDay(Date.now())}
        onOpen={onOpen}
      >
        <DataTable
          columns={[text('day'), text('shared'), text('blocked')]}
          rows={() =>
            totals.map(({ date, shared, blocked }) => [
              formatDate(date),
              formatNumber(shared),
              formatNumber(blocked),
            ])
          }
        />
      </StackedBars>
      <Soft>{text('period', { from: formatDate(period.from), to: formatDate(period.to) })}</Soft>
    </Card>
  );
}

function sumOf(days: readonly AccessDay[], count: (day: AccessDay) => number): number {
  return days.reduce((sum, day) => sum + count(day), 0);
}
