import type { OperatorActName } from '@phds/catalog/wire-names';
import { useState } from 'react';
import { useOperatorActs } from '../../api/accesses.ts';
import { Card } from '../../ui/card.tsx';
import { Resource } from '../../ui/resource.tsx';
import { Rows, RowWords } from '../../ui/rows.tsx';
import { Pages } from '../../ui/table.tsx';
import { Instant } from '../../ui/time.tsx';
import { text } from './texts.ts';

const TEXTS = {
  person_viewed: 'actPersonViewed',
  grants_viewed: 'actGrantsViewed',
  accesses_viewed: 'actAccessesViewed',
  grant_ended: 'actGrantEnded',
  sessions_ended: 'actSessionsEnded',
  developer_added: 'actDeveloperAdded',
  developer_removed: 'actDeveloperRemoved',
  app_transferred: 'actAppTransferred',
  own_data_downloaded: 'actOwnDataDownloaded',
  other: 'actOther',
} as const satisfies Record<OperatorActName, string>;

/** What operators of the service did about the person, and the person's own downloads. Nothing while there is none, as usual. */
export function OperatorActs() {
  const [page, setPage] = useState(1);
  const acts = useOperatorActs(page);
  if (acts.isPending || acts.data?.pagination.total === 0) return null;
  return (
    <Card label={text('acts')}>
      <h2>{text('acts')}</h2>
      <p>{text('actsText')}</p>
      <Resource query={acts}>
        {({ data, pagination }) => (
          <div>
            <Rows>
              {data.map(({ id, act, appName, at }) => (
                <li key={id}>
                  <RowWords>{text(TEXTS[act], { app: appName ?? '' })}</RowWords>
                  <Instant at={at} />
                </li>
              ))}
            </Rows>
            <Pages pagination={pagination} onChange={setPage} />
          </div>
        )}
      </Resource>
    </Card>
  );
}
