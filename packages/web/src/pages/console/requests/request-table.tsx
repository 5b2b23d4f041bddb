import { toProblemType } from '@phds/catalog/problems';
import type { LoggedRequest } from '../../../api/resources.ts';
import { Tag, type Tone } from '../../../ui/card.tsx';
import { type Column, Table } from '../../../ui/table.tsx';
import { PreciseInstant } from '../../../ui/time.tsx';
import { text } from './texts.ts';

/** Requests, newest first. */
export function RequestTable({ requests }: { readonly requests: readonly LoggedRequest[] }) {
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

/** The status, and the error code with its page. */
function Answer({ request: { status, code } }: { readonly request: LoggedRequest }) {
  return (
    <>
      <Tag tone={toneOf(status)}>{status}</Tag>{' '}
      {code === null ? null : <a href={toProblemType(code)}>{code}</a>}
    </>
  );
}

function toneOf(status: number): Tone {
  if (status < 400) return 'good';
  return status < 500 ? 'warn' : 'bad';
}
