import { useGrant, useRevocation } from '../../api/grants.ts';
import type { Grant, GrantStatus } from '../../api/resources.ts';
import { appTitle } from '../../ui/app-title.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Card, Facts, Grid, Row, Soft, Stack, Tag } from '../../ui/card.tsx';
import { ChangeNotice } from '../../ui/change-notice.tsx';
import { Confirmation } from '../../ui/confirmation.tsx';
import { focusHeading } from '../../ui/focus.ts';
import { PageHeading } from '../../ui/layout.tsx';
import { Empty, EmptyPage } from '../../ui/notice.tsx';
import { Resource } from '../../ui/resource.tsx';
import { WebLink } from '../../ui/web-link.tsx';
import { AccessTable } from '../history/access-table.tsx';
import { AfterSharing } from './after-sharing.tsx';
import { AppChanges } from './app-changes.tsx';
import style from './apps.module.css';
import { findDomain } from './domains.ts';
import { EndsSoon, UnusedHint } from './grant-hints.tsx';
import { NarrowingForm } from './narrowing-form.tsx';
import { SharingCard } from './sharing-card.tsx';
import { Rich, text } from './texts.ts';

/** One connected app: what it may read, what it has read, and how to narrow or end that. */
export function ConnectedAppPage({ id }: { readonly id: string }) {
  const grant = useGrant(id);
  return (
    <Resource query={grant} notFound={<NoSuchConnection />}>
      {(found) => <ConnectedApp grant={found} />}
    </Resource>
  );
}

/** Shown instead of a connection that is not the person's. */
export function NoSuchConnection() {
  return (
    <EmptyPage title={text('notFound')}>
      <p>{text('notFoundText')}</p>
      <ButtonLink to="/apps">{text('title')}</ButtonLink>
    </EmptyPage>
  );
}

function ConnectedApp({ grant }: { readonly grant: Grant }) {
  const revocation = useRevocation(grant.id);
  const isActive = grant.status === 'active';
  const app = appTitle(grant.app);
  return (
    <>
      <PageHeading
        title={app}
        lead={
          <>
            <GrantStatusTag status={grant.status} /> {findDomain(grant.app, [])}
          </>
        }
        actions={
          isActive ? (
            <StopSharing
              app={app}
              isBusy={revocation.isPending}
              onConfirm={() => revocation.mutate(undefined, { onSuccess: focusHeading })}
            />
          ) : undefined
        }
      />
      <Stack>
        <ChangeNotice
          failure={revocation.failure}
          undone={text('notStopped')}
          unknown={text('stopUnknown')}
          advice={text('stopAdvice')}
        />
        {isActive ? null : <AfterSharing grant={grant} />}
        <EndsSoon grant={grant} app={app} />
        {grant.appChanges === undefined ? null : (
          <AppChanges changes={grant.appChanges} isActive={isActive} />
        )}
        <UnusedHint grant={grant} />
        <Grid>
          <SharingCard grant={grant} />
          <AboutApp grant={grant} />
        </Grid>
        {isActive ? <NarrowingForm grant={grant} /> : null}
        <section aria-label={text('reads')}>
          <Stack>
            <h2>{text('reads')}</h2>
            <AccessTable
              filter={{ grantId: grant.id }}
              showApp={false}
              empty={<NothingRead isActive={isActive} />}
            />
          </Stack>
        </section>
        <Support clientId={grant.app.clientId} />
      </Stack>
    </>
  );
}

function NothingRead({ isActive }: { readonly isActive: boolean }) {
  if (!isActive) return <Empty title={text('readNothing')} />;
  return (
    <Empty title={text('nothingRead')}>
      <p>{text('readsEmpty')}</p>
    </Empty>
  );
}

/** The deployment's address for people who need help with an app, with the app's id in it; nothing if there is none. */
function Support({ clientId }: { readonly clientId: string }) {
  const address = document.querySelector<HTMLMetaElement>('meta[name="support-url"]')?.content;
  const url = URL.parse(address ?? '');
  if (url === null) return null;
  if (url.protocol === 'mailto:') url.search = `subject=${clientId}`;
  else url.searchParams.set('app', clientId);
  return (
    <p>
      <a href={url.href} rel="noopener noreferrer">
        {text('support')}
      </a>
    </p>
  );
}

function StopSharing({
  app,
  isBusy,
  onConfirm,
}: {
  readonly app: string;
  readonly isBusy: boolean;
  readonly onConfirm: () => void;
}) {
  return (
    <Confirmation
      trigger={text('stop')}
      title={text('stopTitle', { app })}
      confirm={text('stop')}
      isBusy={isBusy}
      onConfirm={onConfirm}
    >
      <p>{text('stopText', { app })}</p>
      <p>{text('shareAgain', { app })}</p>
    </Confirmation>
  );
}

const TAGS = {
  active: { tone: 'good', id: 'active' },
  expired: { tone: 'neutral', id: 'expired' },
  revoked: { tone: 'bad', id: 'stopped' },
} as const;

function GrantStatusTag({ status }: { readonly status: GrantStatus }) {
  const { tone, id } = TAGS[status];
  return <Tag tone={tone}>{text(id)}</Tag>;
}

/** The app as the person was shown it: its own words, its developer, its domain and its links. */
function AboutApp({ grant: { app, purpose, appChanges } }: { readonly grant: Grant }) {
  const title = text('about', { app: appTitle(app) });
  const { description } = app;
  const hasWords = [description, purpose].some((words) => typeof words === 'string');
  const [website, privacyPolicy] =
    appChanges === undefined
      ? (['website', 'privacyPolicy'] as const)
      : (['websiteThen', 'privacyPolicyThen'] as const);
  return (
    <Card label={title}>
      <h2>{title}</h2>
      {typeof description === 'string' ? (
        <p className={style['words']}>
          <Rich id="quoted" values={{ words: description }} />
        </p>
      ) : null}
      {typeof purpose === 'string' ? (
        <p>
          <Rich id="why" values={{ app: app.name, purpose }} components={{ q: <q /> }} />
        </p>
      ) : null}
      {hasWords ? <Soft>{text('ownWords')}</Soft> : null}
      <Facts
        facts={[
          [
            text('developer'),
            app.developerName === null ? null : <bdi key="developer">{app.developerName}</bdi>,
          ],
          [text('domain'), app.redirectHost ?? null],
          [text('clientId'), <code key="id">{app.clientId}</code>],
        ]}
      />
      {app.homepageUrl === null && app.privacyPolicyUrl === null ? null : (
        <div className={style['target']}>
          <Row>
            <WebLink url={app.homepageUrl}>{text(website)}</WebLink>
            <WebLink url={app.privacyPolicyUrl}>{text(privacyPolicy)}</WebLink>
          </Row>
        </div>
      )}
    </Card>
  );
}
