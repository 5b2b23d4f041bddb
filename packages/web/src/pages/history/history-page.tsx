import { useState } from 'react';
import { useAccessDays } from '../../api/accesses.ts';
import { BarChart } from '../../charts/bar-chart.tsx';
import { Card, Soft, Stack } from '../../ui/card.tsx';
import { PageHeading } from '../../ui/layout.tsx';
import { Resource } from '../../ui/resource.tsx';
import { TIME_ZONE } from '../../ui/time.tsx';
import { AccessTable } from './access-table.tsx';
import { ExportButton } from './export-button.tsx';
import { EVERYTHING, Filters, type Selection, toFilter } from './filters.tsx';

/** Who read what, when and how much. */
export function HistoryPage() {
  const [selection, setSelection] = useState<Selection>(EVERYTHING);
  const filter = toFilter(selection);
  return (
    <>
      <PageHeading
        title="Access history"
        lead="Every time an app reads some of your data, that is written down before the app gets it. Nothing is missing here."
        actions={<ExportButton filter={filter} />}
      />
      <Stack>
        <Filters selection={selection} onChange={setSelection} />
        <Days filter={filter} />
        <AccessTable key={JSON.stringify(filter)} filter={filter} />
        <Soft>Times are those of {TIME_ZONE}. Days of the chart begin at midnight UTC.</Soft>
      </Stack>
    </>
  );
}

function Days({ filter }: { readonly filter: ReturnType<typeof toFilter> }) {
  const days = useAccessDays(filter);
  return (
    <Resource query={days} what="the chart">
      {(data) =>
        data.length === 0 ? null : (
          <Card label="Accesses by day">
            <BarChart
              title="Accesses by app and day"
              bars={data.map(({ date, app, released, refused }) => ({
                date,
                series: app.name,
                value: released + refused,
              }))}
            />
          </Card>
        )
      }
    </Resource>
  );
}
