import { useState } from 'react';
import { type AccessFilter, useAccesses } from '../../api/accesses.ts';
import type { Access } from '../../api/resources.ts';
import { Tag } from '../../ui/card.tsx';
import { Empty } from '../../ui/notice.tsx';
import { Resource } from '../../ui/resource.tsx';
import { scopeTitle } from '../../ui/scopes.ts';
import { type Column, Pages, Table } from '../../ui/table.tsx';
import { Instant } from '../../ui/time.tsx';
import { refusalText } from './refusal-text.ts';

const COLUMNS: readonly Column<Access>[] = [
  { title: 'When', cell: ({ at }) => <Instant at={at} /> },
  { title: 'App', cell: ({ app }) => app.name },
  { title: 'What', cell: ({ scope }) => scopeTitle(scope) },
  { title: 'Window', cell: (access) => windowText(access) },
  { title: 'Records', cell: ({ recordCount }) => recordCount.toLocaleString(), isNumber: true },
  { title: 'Outcome', cell: (access) => <Outcome access={access} /> },
];

/** Accesses, newest first, page by page. */
export function AccessTable({
  filter,
  showApp = true,
}: {
  readonly filter: AccessFilter;
  readonly showApp?: boolean;
}) {
  const [page, setPage] = useState(1);
  const accesses = useAccesses(filter, page);
  return (
    <Resource query={accesses} what="the accesses">
      {({ data, pagination }) =>
        data.length === 0 ? (
          <Empty title="Nobody has looked">
            <p>Each time an app reads some of your data, a line appears here before the app gets it.</p>
          </Empty>
        ) : (
          <div>
            <Table
              caption="Accesses"
              columns={showApp ? COLUMNS : COLUMNS.filter(({ title }) => title !== 'App')}
              rows={data}
              keyOf={({ id }) => id}
            />
            <Pages pagination={pagination} onChange={setPage} />
          </div>
        )
      }
    </Resource>
  );
}

function windowText({ from, to }: Access): string {
  if (from === null && to === null) return 'everything';
  return `${from ?? 'the beginning'} to ${to ?? 'now'}`;
}

function Outcome({ access }: { readonly access: Access }) {
  if (access.outcome === 'released') return <Tag tone="good">given</Tag>;
  return (
    <span title={access.reason ?? undefined}>
      <Tag tone="bad">refused</Tag> {refusalText(access.reason)}
    </span>
  );
}
