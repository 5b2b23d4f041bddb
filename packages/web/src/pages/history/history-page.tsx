import { useState } from 'react';
import { useAccessDays } from '../../api/accesses.ts';
import { BarChart } from '../../charts/bar-chart.tsx';
import { Button } from '../../ui/button.tsx';
import { Card, Soft, Stack } from '../../ui/card.tsx';
import { focusHeading } from '../../ui/focus.ts';
import { PageHeading } from '../../ui/layout.tsx';
import { Empty } from '../../ui/notice.tsx';
import { Resource } from '../../ui/resource.tsx';
import { formatDate, TIME_ZONE } from '../../ui/time.tsx';
import { AccessTable } from './access-table.tsx';
import { nameApps } from './app-names.ts';
import { ExportButton } from './export-button.tsx';
import { EVERYTHING, Filters, type Selection, toDayFilter, toFilter } from './filters.tsx';

/** Who read what, when and how much. */
export function HistoryPage() {
  const [selection, setSelection] = useState<Selection>(EVERYTHING);
  const filter = toFilter(selection);
  const showEverything = () => {
    setSelection(EVERYTHING);
    focusHeading();
  };
  return (
    <>
      <PageHeading
        title="Access history"
        lead="Every time an app reads some of your data, that is written down before the app gets it. Nothing is missing here."
        actions={<ExportButton filter={filter} />}
      />
      <Stack>
        <Filters selection={selection} onChange={setSelection} />
        <Days selection={selection} />
        <AccessTable
          filter={filter}
          {...(Object.keys(filter).length === 0
            ? {}
            : { empty: <NothingChosen onShowEverything={showEverything} /> })}
        />
        <Soft>Times and the days you choose are those of {TIME_ZONE}.</Soft>
      </Stack>
    </>
  );
}

function NothingChosen({ onShowEverything }: { readonly onShowEverything: () => void }) {
  return (
    <Empty title="Nothing of what you chose">
      <p>No app has looked at that in those days.</p>
      <Button onPress={onShowEverything}>Show everything</Button>
    </Empty>
  );
}

function Days({ selection }: { readonly selection: Selection }) {
  const filter = toDayFilter(selection);
  const days = useAccessDays(filter);
  return (
    <Resource query={days}>
      {(data) => {
        if (data.length === 0) return null;
        const names = nameApps(data.map(({ app }) => app));
        return (
          <Card label="Accesses by day">
            <BarChart
              title="Accesses by app and day"
              seriesTitle="App"
              nameOf={(clientId) => names.get(clientId) ?? clientId}
              from={filter.from}
              to={filter.to}
              bars={data.map(({ date, app, released, refused }) => ({
                date,
                series: app.clientId,
                value: released + refused,
              }))}
            />
            <Soft>
              {formatDate(filter.from)} to {formatDate(filter.to)}. Days of the chart begin at midnight UTC,
              so an access near midnight may stand a day beside its time in the list.
            </Soft>
          </Card>
        );
      }}
    </Resource>
  );
}
