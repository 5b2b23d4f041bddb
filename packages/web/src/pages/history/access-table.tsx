import type { RefusalReason } from '@phds/catalog/wire-names';
import type { ReactNode } from 'react';
import { type AccessFilter, useAccesses } from '../../api/accesses.ts';
import type { Access } from '../../api/resources.ts';
import { appTitle } from '../../ui/app-title.ts';
import { Soft, Tag } from '../../ui/card.tsx';
import { formatList, formatNumber } from '../../ui/formats.ts';
import { Empty } from '../../ui/notice.tsx';
import { Resource } from '../../ui/resource.tsx';
import { recordedTitles } from '../../ui/scopes.ts';
import { type Column, Pages, Table, useFilteredPage } from '../../ui/table.tsx';
import { Clock, formatDate, formatInstant, Instant } from '../../ui/time.tsx';
import { text } from './texts.ts';

/** Accesses, newest first, in pages. */
export function AccessTable({
  filter,
  showApp = true,
  showDay = true,
  empty = <NoReads />,
}: {
  readonly filter: AccessFilter;
  readonly showApp?: boolean;
  /** Whether the days of the accesses may differ. */
  readonly showDay?: boolean;
  /** Shown instead of an empty list. */
  readonly empty?: ReactNode;
}) {
  const [page, setPage] = useFilteredPage(filter);
  const accesses = useAccesses(filter, page);
  return (
    <Resource query={accesses}>
      {({ data, pagination }) =>
        data.length === 0 ? (
          empty
        ) : (
          <div>
            <Table
              caption={text('list')}
              columns={toColumns(showApp, showDay)}
              rows={data}
              keyOf={({ id }) => id}
              isCompact
            />
            <Soft>{text('neverEarlier')}</Soft>
            <Pages pagination={pagination} onChange={setPage} />
          </div>
        )
      }
    </Resource>
  );
}

function toColumns(showApp: boolean, showDay: boolean): readonly Column<Access>[] {
  return [
    {
      title: text('time'),
      cell: ({ at }) => (showDay ? <Instant at={at} /> : <Clock at={at} />),
      isPlain: true,
    },
    { title: text('result'), cell: (access) => <Outcome access={access} />, isPlain: true },
    ...(showApp ? [{ title: text('app'), cell: ({ app }: Access) => appTitle(app), isPlain: true }] : []),
    {
      title: text('data'),
      cell: (access) => formatList(recordedTitles([access])),
      isPlain: true,
      isWide: true,
    },
    { title: text('askedFor'), cell: (access) => windowText(access) },
    { title: text('records'), cell: ({ recordCount }) => formatNumber(recordCount), isNumber: true },
  ];
}

/** For a person whose data no app has read. */
export function NoReads() {
  return (
    <Empty title={text('none')}>
      <p>{text('noneText')}</p>
    </Empty>
  );
}

/** A bound of the request, which is a date or an instant. */
function formatBound(bound: string): string {
  return bound.includes('T') ? formatInstant(bound) : formatDate(bound);
}

/** Of which time an app requested data. What it got is never from before the first day of the grant. */
function windowText({ from, to }: Access): string {
  if (from !== null && to !== null) return text('between', { from: formatBound(from), to: formatBound(to) });
  if (from !== null) return text('since', { from: formatBound(from) });
  return to === null ? text('anyTime') : text('until', { to: formatBound(to) });
}

function Outcome({ access }: { readonly access: Access }) {
  if (access.outcome === 'released') return <Tag tone="good">{text('shared')}</Tag>;
  return (
    <>
      <Tag tone="bad">{text('blocked')}</Tag> {refusalText(access.reason)}
    </>
  );
}

const TEXTS = {
  GRANT_REVOKED: 'grantRevoked',
  GRANT_EXPIRED: 'grantExpired',
  SCOPE_WITHDRAWN: 'scopeWithdrawn',
  APP_NOT_ALIVE: 'appNotAlive',
  TOKEN_REVOKED: 'tokenRevoked',
  TOKEN_EXPIRED: 'tokenExpired',
  FAMILY_REVOKED: 'tokenRevoked',
  RESTORE_UNCONFIRMED: 'restoreUnconfirmed',
  WINDOW_CHANGED: 'windowChanged',
} as const satisfies Readonly<Record<RefusalReason, string>>;

/** Why a read was blocked, worded for the person whose data it is. */
function refusalText(reason: RefusalReason | null): string {
  return reason === null || TEXTS[reason] === undefined ? '' : text(TEXTS[reason]);
}
