import type { DayFilter } from '../../api/accesses.ts';
import type { AccessDay } from '../../api/resources.ts';
import { DataTable } from '../../charts/data-table.tsx';
import { ReadBars, sumByDay } from '../../charts/read-bars.tsx';
import { Card, Soft } from '../../ui/card.tsx';
import { localDay } from '../../ui/days.ts';
import { formatNumber } from '../../ui/formats.ts';
import { formatDate } from '../../ui/time.tsx';
import { text } from './texts.ts';

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
  return (
    <Card label={text('chartTitle')}>
      <ReadBars
        title={text('chartTitle')}
        reads={days}
        released={text('shared')}
        refused={text('blocked')}
        from={period.from}
        to={period.to}
        today={localDay(Date.now())}
        onOpen={onOpen}
      >
        <DataTable
          title={text('chartTitle')}
          columns={[text('chartDay'), text('shared'), text('blocked')]}
          rows={() =>
            sumByDay(days).map(({ date, released, refused }) => [
              formatDate(date),
              formatNumber(released),
              formatNumber(refused),
            ])
          }
        />
      </ReadBars>
      <Soft>{text('period', { from: formatDate(period.from), to: formatDate(period.to) })}</Soft>
    </Card>
  );
}
