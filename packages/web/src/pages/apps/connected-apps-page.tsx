import { useState } from 'react';
import { Link } from 'wouter';
import { useGrants, useRevocationOfAll } from '../../api/grants.ts';
import type { Grant } from '../../api/resources.ts';
import { Card, Grid, Monogram, Row, Soft, Stack } from '../../ui/card.tsx';
import { Confirmation } from '../../ui/confirmation.tsx';
import { PageHeading } from '../../ui/layout.tsx';
import { Empty, ErrorNotice } from '../../ui/notice.tsx';
import { Resource } from '../../ui/resource.tsx';
import { scopeTitle } from '../../ui/scopes.ts';
import { Pages } from '../../ui/table.tsx';
import { Day, Instant } from '../../ui/time.tsx';
import { GrantStatusTag } from './grant-status-tag.tsx';

const SHOWN_SCOPES = 4;

/** Every app that this person shares with, or did. */
export function ConnectedAppsPage() {
  const active = useGrants('active');
  const revocation = useRevocationOfAll();
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
              onConfirm={() => revocation.mutate(undefined)}
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
        {revocation.error === null ? null : (
          <ErrorNotice error={revocation.error} title="Sharing has not ended." />
        )}
        <Resource query={active} what="your connected apps">
          {({ data }) =>
            data.length === 0 ? (
              <Empty title="No app reads your data">
                <p>
                  When an app asks for some of it, you decide here what it gets. Until then nobody sees
                  anything.
                </p>
              </Empty>
            ) : (
              <Grid>
                {data.map((grant) => (
                  <GrantCard key={grant.id} grant={grant} />
                ))}
              </Grid>
            )
          }
        </Resource>
        <Ended />
      </Stack>
    </>
  );
}

function GrantCard({ grant }: { readonly grant: Grant }) {
  const { app, scopes, expiresAt, lastAccessAt, accessCount } = grant;
  const shown = scopes.slice(0, SHOWN_SCOPES).map(scopeTitle).join(', ');
  const more = scopes.length > SHOWN_SCOPES ? ` and ${scopes.length - SHOWN_SCOPES} more` : '';
  return (
    <Card label={app.name}>
      <Row>
        <Monogram name={app.name} />
        <h2>
          <Link href={`/apps/${grant.id}`}>{app.name}</Link>
        </h2>
      </Row>
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
            Looked {accessCount.toLocaleString()} times, last <Instant at={lastAccessAt} />.
          </>
        )}
      </Soft>
    </Card>
  );
}

/** Grants that are over, of all kinds; nothing when there are none. */
function Ended() {
  const [page, setPage] = useState(1);
  const all = useGrants(undefined, page, 20);
  const ended = all.data?.data.filter(({ status }) => status !== 'active') ?? [];
  if (all.data === undefined || (ended.length === 0 && all.data.pagination.totalPages <= 1)) return null;
  return (
    <Card label="Ended">
      <h2>Ended</h2>
      {ended.map((grant) => (
        <Row key={grant.id} between>
          <Link href={`/apps/${grant.id}`}>{grant.app.name}</Link>
          <Row>
            <Soft>
              <Day at={grant.revokedAt ?? grant.expiresAt} />
            </Soft>
            <GrantStatusTag status={grant.status} />
          </Row>
        </Row>
      ))}
      <Pages pagination={all.data.pagination} onChange={setPage} />
    </Card>
  );
}
