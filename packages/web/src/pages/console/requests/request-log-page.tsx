import { useState } from 'react';
import { Link } from 'wouter';
import { type RequestFilter, useApp, useRequests, useUsage } from '../../../api/developer-apps.ts';
import { Button } from '../../../ui/button.tsx';
import { Stack } from '../../../ui/card.tsx';
import { useFilteredPage } from '../../../ui/filtered-page.ts';
import { focusHeading } from '../../../ui/focus.ts';
import { PageHeading } from '../../../ui/layout.tsx';
import { Empty, Notice } from '../../../ui/notice.tsx';
import { Resource } from '../../../ui/resource.tsx';
import { Pages } from '../../../ui/table.tsx';
import { NoApp } from '../no-app.tsx';
import { Filters } from './filters.tsx';
import { RequestTable } from './request-table.tsx';
import { StatusCounts } from './status-counts.tsx';
import { Rich, text } from './texts.ts';

const EVERYTHING: RequestFilter = {};

/** The latest requests of an app, to find out what an answer meant. */
export function RequestLogPage({ clientId }: { readonly clientId: string }) {
  const app = useApp(clientId);
  return (
    <Resource query={app} notFound={<NoApp />}>
      {({ name }) => <RequestLog clientId={clientId} name={name} />}
    </Resource>
  );
}

function RequestLog({ clientId, name }: { readonly clientId: string; readonly name: string }) {
  const [filter, setFilter] = useState(EVERYTHING);
  const [page, setPage] = useFilteredPage(filter);
  const requests = useRequests(clientId, filter, page);
  const usage = useUsage(clientId);
  return (
    <>
      <PageHeading
        title={text('title')}
        lead={
          <Rich
            id="lead"
            values={{ app: name }}
            components={{ link: <Link href={`/console/${clientId}`} /> }}
          />
        }
        actions={
          <Button isBusy={requests.isFetching} onPress={() => void requests.refetch()}>
            {text('refresh')}
          </Button>
        }
      />
      <Stack>
        <StatusCounts usage={usage.data ?? []} onChoose={(status) => setFilter({ status })} />
        <Filters filter={filter} onChange={setFilter} />
        <Resource query={requests}>
          {({ data, pagination, complete }) => (
            <>
              {complete ? null : <Partial />}
              {data.length === 0 ? (
                <Nothing
                  isFiltered={Object.keys(filter).length > 0}
                  onShowAll={() => {
                    setFilter(EVERYTHING);
                    focusHeading();
                  }}
                />
              ) : (
                <div>
                  <RequestTable requests={data} />
                  <Pages pagination={pagination} onChange={setPage} />
                </div>
              )}
            </>
          )}
        </Resource>
      </Stack>
    </>
  );
}

/** The service could not read the requests that others of its gateways have answered. */
function Partial() {
  return (
    <Notice>
      <strong>{text('partial')}</strong>
      <span>{text('partialText')}</span>
    </Notice>
  );
}

function Nothing({
  isFiltered,
  onShowAll,
}: {
  readonly isFiltered: boolean;
  readonly onShowAll: () => void;
}) {
  if (!isFiltered) {
    return (
      <Empty title={text('none')}>
        <p>{text('noneText')}</p>
      </Empty>
    );
  }
  return (
    <Empty title={text('noneFound')}>
      <p>{text('noneFoundText')}</p>
      <Button onPress={onShowAll}>{text('showAll')}</Button>
    </Empty>
  );
}
