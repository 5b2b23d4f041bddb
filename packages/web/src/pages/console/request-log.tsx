import { toProblemType } from '@phds/catalog/problems';
import { useState } from 'react';
import { type RequestFilter, USAGE_DAYS, useRequests, useUsage } from '../../api/developer-apps.ts';
import type { DeveloperApp, LoggedRequest, UsageDay } from '../../api/resources.ts';
import { DataTable } from '../../charts/data-table.tsx';
import { ReadBars } from '../../charts/read-bars.tsx';
import { Button } from '../../ui/button.tsx';
import { Card, Row, Soft, Stack, Tag, type Tone } from '../../ui/card.tsx';
import { addDays, today } from '../../ui/days.ts';
import { focusHeading } from '../../ui/focus.ts';
import { formatNumber } from '../../ui/formats.ts';
import { Empty, Notice } from '../../ui/notice.tsx';
import { Resource } from '../../ui/resource.tsx';
import { type Column, Pages, Table, useFilteredPage } from '../../ui/table.tsx';
import { formatDate, PreciseInstant } from '../../ui/time.tsx';
import { linkTo } from '../../ui/web-link.tsx';
import { Filters } from './log-filters.tsx';
import { Rich, text } from './texts.ts';

const EVERYTHING: RequestFilter = {};
const LABELS = { requestId: text('requestId'), status: text('status'), code: text('code') };

/** What an app's requests were answered: in numbers by day, and the latest one by one. */
export function RequestLog({ app: { clientId } }: { readonly app: DeveloperApp }) {
  const [filter, setFilter] = useState(EVERYTHING);
  const [page, setPage] = useFilteredPage(filter);
  const requests = useRequests(clientId, filter, page);
  return (
    <>
      <Answers clientId={clientId} />
      <Row between>
        <h2>{text('list')}</h2>
        <Button isBusy={requests.isFetching} onPress={() => void requests.refetch()}>
          {text('refresh')}
        </Button>
      </Row>
      <Soft>{text('logLead')}</Soft>
      <Filters filter={filter} onChange={setFilter} />
      <Resource query={requests} labels={LABELS}>
        {({ data, pagination, complete }) => (
          <Stack>
            {complete ? null : <Notice title={text('partial')}>{text('partialText')}</Notice>}
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
                <Table
                  caption={text('list')}
                  columns={COLUMNS}
                  rows={data}
                  keyOf={({ requestId }) => requestId}
                />
                <Pages pagination={pagination} onChange={setPage} />
              </div>
            )}
          </Stack>
        )}
      </Resource>
    </>
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

const COLUMNS: readonly Column<LoggedRequest>[] = [
  { title: text('time'), cell: ({ at }) => <PreciseInstant at={at} /> },
  { title: text('logAnswer'), cell: (request) => <Answer request={request} /> },
  {
    title: text('request'),
    cell: ({ method, endpoint }) => (
      <code>
        {method} {endpoint}
      </code>
    ),
  },
  { title: text('duration'), cell: ({ ms }) => text('milliseconds', { ms }), isNumber: true },
  { title: text('requestId'), cell: ({ requestId }) => <code>{requestId}</code> },
];

/** The status, the error code with its page, and what was wrong with an assertion. */
function Answer({ request: { status, code, fault } }: { readonly request: LoggedRequest }) {
  return (
    <>
      <Tag tone={toneOf(status)}>{status}</Tag>{' '}
      {code === null ? null : <a href={toProblemType(code)}>{code}</a>}
      {fault === undefined ? null : <Soft>{text('assertion', { fault })}</Soft>}
    </>
  );
}

function toneOf(status: number): Tone {
  if (status < 400) return 'good';
  return status < 500 ? 'warn' : 'bad';
}

/** How many reads were answered with data and how many were refused, by day. */
function Answers({ clientId }: { readonly clientId: string }) {
  return (
    <Card label={text('usage', { days: USAGE_DAYS })}>
      <Resource query={useUsage(clientId)}>
        {(usage) => (
          <ReadBars
            title={text('usage', { days: USAGE_DAYS })}
            reads={usage}
            released={text('answered')}
            refused={text('refused')}
            from={addDays(today(), 1 - USAGE_DAYS)}
            to={today()}
          >
            <DataTable
              title={text('usage', { days: USAGE_DAYS })}
              columns={[text('day'), text('endpoint'), text('status'), text('count')]}
              rows={() => usage.flatMap(toRows)}
            />
          </ReadBars>
        )}
      </Resource>
      <Soft>
        <Rich id="usageScope" components={linkTo('/problems')} />
      </Soft>
    </Card>
  );
}

/** One row for the answers with data, and one for each status of a refusal. */
function toRows({ date, endpoint, released, refusals }: UsageDay): string[][] {
  const counts = [{ status: text('answered'), count: released }, ...refusals];
  return counts
    .filter(({ count }) => count > 0)
    .map(({ status, count }) => [formatDate(date), endpoint, String(status), formatNumber(count)]);
}
