import type { RefusalReason } from '@phds/catalog/wire-names';
import { type AccessFilter, useAccesses } from '../../api/accesses.ts';
import type { Access } from '../../api/resources.ts';
import { Soft, Tag } from '../../ui/card.tsx';
import { formatList } from '../../ui/formats.ts';
import { Resource } from '../../ui/resource.tsx';
import { Rows, RowWords } from '../../ui/rows.tsx';
import { recordedTitles } from '../../ui/scopes.ts';
import { Pages, useFilteredPage } from '../../ui/table.tsx';
import { formatClock } from '../../ui/time.tsx';
import { text } from './texts.ts';

/** Accesses of one app on one day, newest first, in pages; equal ones that follow each other are one row. */
export function AccessList({ filter }: { readonly filter: AccessFilter }) {
  const [page, setPage] = useFilteredPage(filter);
  const accesses = useAccesses(filter, page);
  return (
    <Resource query={accesses} labels={{ from: text('from'), to: text('to') }}>
      {({ data, pagination }) =>
        data.length === 0 ? (
          <Soft>{text('noneChosenText')}</Soft>
        ) : (
          <div>
            <Rows>
              {groupEqual(data).map((reads) => (
                <li key={reads[0].id}>
                  <RowWords>
                    {formatList(recordedTitles([reads[0]]))} <Blocked access={reads[0]} />
                    <Soft>{readsText(reads)}</Soft>
                  </RowWords>
                </li>
              ))}
            </Rows>
            <Pages pagination={pagination} onChange={setPage} />
          </div>
        )
      }
    </Resource>
  );
}

type Reads = [Access, ...Access[]];

/** Reads of the same data with the same outcome that follow each other. */
function groupEqual(accesses: readonly Access[]): Reads[] {
  const groups: Reads[] = [];
  const kindOf = ({ scope, outcome, reason }: Access) => `${scope} ${outcome} ${reason}`;
  for (const access of accesses) {
    const group = groups.at(-1);
    if (group !== undefined && kindOf(group[0]) === kindOf(access)) group.push(access);
    else groups.push([access]);
  }
  return groups;
}

/** “9 reads · 603 records · 04:20 – 04:43”. */
function readsText(reads: Reads): string {
  const [first, last] = [formatClock(reads.at(-1)?.at ?? reads[0].at), formatClock(reads[0].at)];
  return text('readsAt', {
    count: reads.length,
    records: reads.reduce((sum, { recordCount }) => sum + recordCount, 0),
    time: first === last ? last : `${first} – ${last}`,
  });
}

/** That a read was blocked, and why; nothing for a read that was not. */
function Blocked({ access: { outcome, reason } }: { readonly access: Access }) {
  if (outcome === 'released') return null;
  return (
    <>
      <Tag tone="bad">{text('blocked')}</Tag> {refusalText(reason)}
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
