import { useId, useState } from 'react';
import { Link } from 'wouter';
import type { Page } from '../../api/client.ts';
import { useGrants, useRevocationOfAll } from '../../api/grants.ts';
import type { Grant } from '../../api/resources.ts';
import { appTitle } from '../../ui/app-title.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Card, Grid, Soft, Stack } from '../../ui/card.tsx';
import { ChangeNotice } from '../../ui/change-notice.tsx';
import { Confirmation } from '../../ui/confirmation.tsx';
import { focusHeading } from '../../ui/focus.ts';
import { PageHeading } from '../../ui/layout.tsx';
import { Empty } from '../../ui/notice.tsx';
import { Resource, together } from '../../ui/resource.tsx';
import { Pages } from '../../ui/table.tsx';
import { Day, formatDay } from '../../ui/time.tsx';
import { AppCard, AppDomain } from './app-card.tsx';
import style from './apps.module.css';
import { Rich, text } from './texts.ts';

/** Every app that this person shares with or has shared with. */
export function ConnectedAppsPage() {
  const [page, setPage] = useState(1);
  const active = useGrants('active', page);
  const [revokedPage, setRevokedPage] = useState(1);
  const [expiredPage, setExpiredPage] = useState(1);
  const lists = together<[Grants, Grants, Grants]>([
    active,
    useGrants('revoked', revokedPage),
    useGrants('expired', expiredPage),
  ]);
  const revocation = useRevocationOfAll(page);
  return (
    <>
      <PageHeading
        title={text('title')}
        lead={text('lead')}
        actions={
          (active.data?.pagination.total ?? 0) > 1 ? (
            <Confirmation
              trigger={text('stopAll')}
              title={text('stopAllTitle')}
              confirm={text('stopAllNow')}
              isBusy={revocation.isPending}
              onConfirm={() => revocation.mutate(undefined, { onSuccess: focusHeading })}
            >
              <p>{text('stopAllText')}</p>
            </Confirmation>
          ) : undefined
        }
      />
      <Stack>
        <ChangeNotice
          failure={revocation.failure}
          undone={text('notStopped')}
          unknown={text('stopUnknown')}
          advice={text('stopAllAdvice')}
        />
        <Resource query={lists}>
          {([sharing, revoked, expired]) => (
            <Stack>
              <ActiveApps grants={sharing} onPage={setPage} />
              <EndedApps title={text('stopped')} grants={revoked} onPage={setRevokedPage} />
              <EndedApps title={text('expired')} grants={expired} onPage={setExpiredPage} />
            </Stack>
          )}
        </Resource>
      </Stack>
    </>
  );
}

type Grants = Page<Grant>;

interface ListProps {
  readonly grants: Grants;
  readonly onPage: (page: number) => void;
}

function ActiveApps({ grants: { data, pagination }, onPage }: ListProps) {
  if (data.length === 0) {
    return (
      <Empty title={text('nobody')}>
        <p>{text('nobodyText')}</p>
        <ButtonLink to="/data">{text('previewData')}</ButtonLink>
      </Empty>
    );
  }
  return (
    <div>
      <Grid>
        {data.map((grant) => (
          <AppCard key={grant.id} grant={grant} others={data.map(({ app }) => app)} />
        ))}
      </Grid>
      <Pages pagination={pagination} onChange={onPage} />
    </div>
  );
}

/** Grants that ended for one reason; renders nothing if there are none. */
function EndedApps({ title, grants, onPage }: ListProps & { readonly title: string }) {
  if (grants.pagination.total === 0) return null;
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
      <Pages pagination={grants.pagination} onChange={onPage} />
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
