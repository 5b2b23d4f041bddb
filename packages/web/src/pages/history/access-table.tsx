import { type ReactNode, useState } from 'react';
import { type AccessFilter, useAccesses } from '../../api/accesses.ts';
import type { Access } from '../../api/resources.ts';
import { appTitle } from '../../ui/app-title.ts';
import { Tag } from '../../ui/card.tsx';
import { formatNumber } from '../../ui/formats.ts';
import { Empty } from '../../ui/notice.tsx';
import { Resource } from '../../ui/resource.tsx';
import { scopeTitle } from '../../ui/scopes.ts';
import { type Column, Pages, Table } from '../../ui/table.tsx';
import { formatDate, formatInstant, Instant } from '../../ui/time.tsx';
import { refusalText } from './refusal-text.ts';

const COLUMNS: readonly Column<Access>[] = [
  { title: 'When', cell: ({ at }) => <Instant at={at} />, isPlain: true },
  { title: 'Outcome', cell: (access) => <Outcome access={access} />, isPlain: true },
  { title: 'App', cell: ({ app }) => appTitle(app), isPlain: true },
  { title: 'What', cell: ({ scope }) => scopeTitle(scope), isPlain: true },
  { title: 'Of the time', cell: (access) => windowText(access), isPlain: true },
  { title: 'Records', cell: ({ recordCount }) => formatNumber(recordCount), isNumber: true },
];

const NOBODY = (
  <Empty title="Nobody has looked">
    <p>Each time an app reads some of your data, a line appears here before the app gets it.</p>
  </Empty>
);

/** Accesses, newest first, in pages. */
export function AccessTable({
  filter,
  showApp = true,
  empty = NOBODY,
}: {
  readonly filter: AccessFilter;
  readonly showApp?: boolean;
  /** Shown instead of an empty list. */
  readonly empty?: ReactNode;
}) {
  const shown = JSON.stringify(filter);
  const [at, setAt] = useState({ shown, page: 1 });
  // A changed filter starts at its first page.
  if (at.shown !== shown) setAt({ shown, page: 1 });
  const accesses = useAccesses(filter, at.page);
  return (
    <Resource query={accesses}>
      {({ data, pagination }) =>
        data.length === 0 ? (
          empty
        ) : (
          <div>
            <Table
              caption="Accesses"
              columns={showApp ? COLUMNS : COLUMNS.filter(({ title }) => title !== 'App')}
              rows={data}
              keyOf={({ id }) => id}
              isCompact
            />
            <Pages pagination={pagination} onChange={(next) => setAt({ shown, page: next })} />
          </div>
        )
      }
    </Resource>
  );
}

/** A bound of the request, which is a date or an instant. */
function formatBound(bound: string): string {
  return bound.includes('T') ? formatInstant(bound) : formatDate(bound);
}

function windowText({ from, to }: Access): string {
  if (from === null && to === null) return 'all time';
  return `${from === null ? 'the beginning' : formatBound(from)} to ${to === null ? 'now' : formatBound(to)}`;
}

function Outcome({ access }: { readonly access: Access }) {
  if (access.outcome === 'released') return <Tag tone="good">given</Tag>;
  return (
    <span title={access.reason ?? undefined}>
      <Tag tone="bad">refused</Tag> {refusalText(access.reason)}
    </span>
  );
}
