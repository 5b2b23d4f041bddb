import { useState } from 'react';
import { Link } from 'wouter';
import { useGrants, useRevocationOfAll } from '../../api/grants.ts';
import type { Grant } from '../../api/resources.ts';
import { appTitle } from '../../ui/app-title.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Card, Grid, Soft, Stack, Titled } from '../../ui/card.tsx';
import { ChangeNotice } from '../../ui/change-notice.tsx';
import { Confirmation } from '../../ui/confirmation.tsx';
import { focusHeading } from '../../ui/focus.ts';
import { PageHeading } from '../../ui/layout.tsx';
import { Empty, Notice } from '../../ui/notice.tsx';
import { Resource } from '../../ui/resource.tsx';
import { scopeTitle } from '../../ui/scopes.ts';
import { Pages } from '../../ui/table.tsx';
import { Day, Instant } from '../../ui/time.tsx';
import { changesText } from './changes-text.ts';
import style from './connected-apps-page.module.css';
import { timesText } from './times-text.ts';

const SHOWN_SCOPES = 4;

/** Every app that this person shares with or has shared with. */
export function ConnectedAppsPage() {
  const [page, setPage] = useState(1);
  const active = useGrants('active', page);
  const revocation = useRevocationOfAll(page);
  return (
    <>
      <PageHeading
        title="Connected apps"
        lead="Who may read your health data, what of it and until when. You can change your mind here at any time."
        actions={
          (active.data?.pagination.total ?? 0) > 1 ? (
            <Confirmation
              trigger="Stop sharing with all"
              title="Stop sharing with every app?"
              confirm="Stop sharing"
              isBusy={revocation.isPending}
              onConfirm={() => revocation.mutate(undefined, { onSuccess: focusHeading })}
            >
              <p>
                No app can read anything from the moment this is confirmed. What apps have read already stays
                with them.
              </p>
            </Confirmation>
          ) : undefined
        }
      />
      <Stack>
        <ChangeNotice
          failure={revocation.failure}
          undone="Sharing has not ended yet."
          unknown="We could not find out whether sharing has ended."
          advice="Check your connection, then press “Stop sharing with all” again. Stopping twice does no harm."
        />
        <Resource query={active}>
          {({ data, pagination }) =>
            data.length === 0 ? (
              <Empty title="No app reads your data">
                <p>
                  When an app asks for some of it, you decide here what it gets. Until then nobody sees
                  anything.
                </p>
                <ButtonLink to="/data">See what an app would see</ButtonLink>
              </Empty>
            ) : (
              <div>
                <Grid>
                  {data.map((grant) => (
                    <GrantCard key={grant.id} grant={grant} />
                  ))}
                </Grid>
                <Pages pagination={pagination} onChange={setPage} />
              </div>
            )
          }
        </Resource>
        <Ended status="revoked" title="No longer shared" />
        <Ended status="expired" title="Ran out" />
      </Stack>
    </>
  );
}

function GrantCard({ grant }: { readonly grant: Grant }) {
  const { app, appChanges, scopes, expiresAt, lastAccessAt, accessCount } = grant;
  const shown = scopes.slice(0, SHOWN_SCOPES).map(scopeTitle).join(', ');
  const more = scopes.length > SHOWN_SCOPES ? ` and ${scopes.length - SHOWN_SCOPES} more` : '';
  return (
    <Card label={appTitle(app)}>
      <Titled name={app.name}>
        <h2>
          <Link href={`/apps/${grant.id}`}>{appTitle(app)}</Link>
        </h2>
      </Titled>
      {appChanges === undefined ? null : (
        <Notice tone="warn">
          <span>{changesText(appChanges)}</span>
        </Notice>
      )}
      <p>
        Reads {shown}
        {more}.
      </p>
      <Soft>
        Until <Day at={expiresAt} />.{' '}
        {lastAccessAt === null ? (
          'It has not looked yet.'
        ) : (
          <>
            Looked {timesText(accessCount)}, last <Instant at={lastAccessAt} />.
          </>
        )}
      </Soft>
    </Card>
  );
}

/** Grants that ended for one reason; renders nothing if there are none. */
function Ended({ status, title }: { readonly status: 'revoked' | 'expired'; readonly title: string }) {
  const [page, setPage] = useState(1);
  const { data: grants } = useGrants(status, page);
  if (grants === undefined || grants.pagination.total === 0) return null;
  return (
    <Card label={title}>
      <h2>{title}</h2>
      <ul className={style['list']}>
        {grants.data.map(({ id, app, grantedAt, expiresAt, revokedAt }) => (
          <li key={id}>
            <Link href={`/apps/${id}`}>{appTitle(app)}</Link>
            <Soft>
              <Day at={grantedAt} /> to <Day at={revokedAt ?? expiresAt} />
            </Soft>
          </li>
        ))}
      </ul>
      <Pages pagination={grants.pagination} onChange={setPage} />
    </Card>
  );
}
