import { useId, useState } from 'react';
import { Link } from 'wouter';
import { useGrants } from '../../api/grants.ts';
import type { Grant } from '../../api/resources.ts';
import { appTitle } from '../../ui/app-title.ts';
import { Card, Soft } from '../../ui/card.tsx';
import { Pages } from '../../ui/table.tsx';
import { Day, formatDay } from '../../ui/time.tsx';
import { AppDomain } from './app-domain.tsx';
import style from './apps.module.css';
import { Rich, text } from './texts.ts';

/** Grants that ended for one reason; renders nothing if there are none. */
export function EndedApps({ status }: { readonly status: 'revoked' | 'expired' }) {
  const [page, setPage] = useState(1);
  const { data: grants } = useGrants(status, page);
  if (grants === undefined || grants.pagination.total === 0) return null;
  const title = text(status === 'revoked' ? 'stopped' : 'expired');
  const apps = grants.data.map(({ app }) => app);
  return (
    <Card label={title}>
      <h2>{title}</h2>
      <ul className={style['list']}>
        {grants.data.map((grant) => (
          <li key={grant.id}>
            <EndedApp grant={grant} others={apps} />
          </li>
        ))}
      </ul>
      <Pages pagination={grants.pagination} onChange={setPage} />
    </Card>
  );
}

function EndedApp({ grant, others }: { readonly grant: Grant; readonly others: readonly Grant['app'][] }) {
  const { id, app, grantedAt, expiresAt, revokedAt } = grant;
  const domain = useId();
  const end = revokedAt ?? expiresAt;
  const last = <Day at={end} />;
  return (
    <>
      <div className={style['target']}>
        <Link href={`/apps/${id}`} aria-describedby={domain}>
          {appTitle(app)}
        </Link>
        <AppDomain app={app} others={others} id={domain} />
      </div>
      <Soft>
        {formatDay(grantedAt) === formatDay(end) ? (
          last
        ) : (
          <Rich id="period" values={{ from: <Day at={grantedAt} />, to: last }} />
        )}
      </Soft>
    </>
  );
}
