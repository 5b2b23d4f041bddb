import { type Scope, UNDATED_SCOPES } from '@phds/catalog/scopes';
import { usePreview } from '../../api/preview.ts';
import type { Preview } from '../../api/resources.ts';
import { hasValue, TrendChart } from '../../charts/trend-chart.tsx';
import { Card, Grid, Soft, Stack } from '../../ui/card.tsx';
import { Empty } from '../../ui/notice.tsx';
import { Resource } from '../../ui/resource.tsx';
import { scopeDescription } from '../../ui/scopes.ts';
import { formatDate } from '../../ui/time.tsx';
import { RecordList } from './record-list.tsx';
import { text } from './texts.ts';
import { typeName } from './words.ts';

/** The total, charts of the last 30 days, and the newest items of one scope, from the first day on. */
export function ScopePreview({
  scope,
  firstDay = null,
}: {
  readonly scope: Scope;
  readonly firstDay?: string | null;
}) {
  const preview = usePreview(scope, firstDay);
  return (
    <Resource query={preview}>
      {(found) => (
        <>
          {firstDay === null || UNDATED_SCOPES.includes(scope) ? null : (
            <Soft>{text('fromDay', { day: formatDate(firstDay) })}</Soft>
          )}
          <Found preview={found} />
        </>
      )}
    </Resource>
  );
}

function Found({ preview: { scope, total, newest, trend, doses } }: { readonly preview: Preview }) {
  if (total === 0) {
    return (
      <Empty title={text('noData')}>
        <p>{text('noDataText')}</p>
      </Empty>
    );
  }
  const byType = Map.groupBy(trend.filter(hasValue), ({ type }) => type);
  const shown = newest.length;
  return (
    <Stack>
      <Soft>{text('total', { description: scopeDescription(scope), count: total })}</Soft>
      {byType.size === 0 ? null : (
        <Grid>
          {[...byType].map(([type, points]) => (
            <Card key={type} label={text('lastDays', { name: typeName(type) })}>
              <TrendChart points={points} name={typeName(type)} />
            </Card>
          ))}
        </Grid>
      )}
      <RecordList
        title={shown < total ? text('latestRecords', { shown, total }) : text('allRecords')}
        items={newest}
      />
      {doses === undefined || doses.total === 0 ? null : (
        <RecordList
          title={
            doses.newest.length < doses.total
              ? text('latestDoses', { shown: doses.newest.length, total: doses.total })
              : text('allDoses')
          }
          items={doses.newest}
        />
      )}
    </Stack>
  );
}
