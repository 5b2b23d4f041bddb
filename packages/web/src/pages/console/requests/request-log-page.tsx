import { toProblemType } from '@phds/catalog/problems';
import { rollups, sum } from 'd3-array';
import { useState } from 'react';
import { Link } from 'wouter';
import {
  type RequestFilter,
  USAGE_DAYS,
  useApp,
  useRequests,
  useUsage,
} from '../../../api/developer-apps.ts';
import type { LoggedRequest, UsageDay } from '../../../api/resources.ts';
import { Button } from '../../../ui/button.tsx';
import { Card, Row, Soft, Stack, Tag, type Tone } from '../../../ui/card.tsx';
import { focusHeading } from '../../../ui/focus.ts';
import { PageHeading } from '../../../ui/layout.tsx';
import { Empty, Notice } from '../../../ui/notice.tsx';
import { Resource } from '../../../ui/resource.tsx';
import { type Column, Pages, Table, useFilteredPage } from '../../../ui/table.tsx';
import { PreciseInstant } from '../../../ui/time.tsx';
import { NoApp } from '../no-app.tsx';
import { Filters } from './filters.tsx';
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

/** Requests, newest first. */
function RequestTable({ requests }: { readonly requests: readonly LoggedRequest[] }) {
  return (
    <Table
      caption={text('list')}
      columns={toColumns()}
      rows={requests}
      keyOf={({ requestId }) => requestId}
    />
  );
}

function toColumns(): readonly Column<LoggedRequest>[] {
  return [
    { title: text('time'), cell: ({ at }) => <PreciseInstant at={at} /> },
    { title: text('answer'), cell: (request) => <Answer request={request} /> },
    {
      title: text('request'),
      cell: ({ method, endpoint }) => (
        <code>
          {method} {endpoint}
        </code>
      ),
    },
    { title: text('duration'), cell: ({ ms }) => text('milliseconds', { ms }), isNumber: true },
    { title: text('id'), cell: ({ requestId }) => <code>{requestId}</code> },
  ];
}

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

/** How many reads were answered with which status; renders nothing before the first read. */
function StatusCounts({
  usage,
  onChoose,
}: {
  readonly usage: readonly UsageDay[];
  readonly onChoose: (status: string) => void;
}) {
  const counts = countStatuses(usage);
  if (counts.length === 0) return null;
  return (
    <Card label={text('counts', { days: USAGE_DAYS })}>
      <h2>{text('counts', { days: USAGE_DAYS })}</h2>
      <Row>
        {counts.map(({ status, name, count }) => (
          <Button key={status} onPress={() => onChoose(status)}>
            {text('count', { status: name, count })}
          </Button>
        ))}
      </Row>
      <Soft>{text('countsText')}</Soft>
    </Card>
  );
}

interface StatusCount {
  /** The filter that finds its requests. */
  readonly status: string;
  readonly name: string;
  readonly count: number;
}

function countStatuses(usage: readonly UsageDay[]): StatusCount[] {
  const released = sum(usage, (day) => day.released);
  const refused = rollups(
    usage.flatMap(({ refusals }) => refusals),
    (same) => sum(same, ({ count }) => count),
    ({ status }) => status,
  );
  const data = { status: '2xx', name: text('withData'), count: released };
  return [
    ...(released === 0 ? [] : [data]),
    ...refused
      .toSorted(([one], [other]) => one - other)
      .map(([status, count]) => ({ status: String(status), name: String(status), count })),
  ];
}
