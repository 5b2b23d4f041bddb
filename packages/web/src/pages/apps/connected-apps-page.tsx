import { useState } from 'react';
import { useGrants, useRevocationOfAll } from '../../api/grants.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Grid, Stack } from '../../ui/card.tsx';
import { ChangeNotice } from '../../ui/change-notice.tsx';
import { Confirmation } from '../../ui/confirmation.tsx';
import { focusHeading } from '../../ui/focus.ts';
import { PageHeading } from '../../ui/layout.tsx';
import { Empty } from '../../ui/notice.tsx';
import { Resource } from '../../ui/resource.tsx';
import { Pages } from '../../ui/table.tsx';
import { AppCard } from './app-card.tsx';
import { EndedApps } from './ended-apps.tsx';
import { text } from './texts.ts';

/** Every app that this person shares with or has shared with. */
export function ConnectedAppsPage() {
  const [page, setPage] = useState(1);
  const active = useGrants('active', page);
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
        <Resource query={active}>
          {({ data, pagination }) =>
            data.length === 0 ? (
              <Empty title={text('nobody')}>
                <p>{text('nobodyText')}</p>
                <ButtonLink to="/data">{text('previewData')}</ButtonLink>
              </Empty>
            ) : (
              <div>
                <Grid>
                  {data.map((grant) => (
                    <AppCard key={grant.id} grant={grant} others={data.map(({ app }) => app)} />
                  ))}
                </Grid>
                <Pages pagination={pagination} onChange={setPage} />
              </div>
            )
          }
        </Resource>
        <EndedApps status="revoked" />
        <EndedApps status="expired" />
      </Stack>
    </>
  );
}
