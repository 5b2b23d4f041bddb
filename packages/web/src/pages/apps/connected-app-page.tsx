import { type ReactNode, useId, useState } from 'react';
import { useAccessDays } from '../../api/accesses.ts';
import { readDeployment } from '../../api/deployment.ts';
import { useGrant, useRevocation } from '../../api/grants.ts';
import type { Grant } from '../../api/resources.ts';
import { appTitle, findDomain } from '../../ui/app-title.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Facts, Row, Soft, Stack } from '../../ui/card.tsx';
import { Folded } from '../../ui/folded.tsx';
import { BackLink, Narrow, PageHeading } from '../../ui/layout.tsx';
import { EmptyPage } from '../../ui/notice.tsx';
import { Resource } from '../../ui/resource.tsx';
import { Rows, RowWords } from '../../ui/rows.tsx';
import { formatDay, formatLastDay, formatRecent, Instant } from '../../ui/time.tsx';
import { WebLink } from '../../ui/web-link.tsx';
import { ReadsByDay } from '../history/day-list.tsx';
import { AfterSharing } from './after-sharing.tsx';
import { AppChanges } from './app-changes.tsx';
import style from './apps.module.css';
import { unusedText } from './grant-hints.ts';
import { findDaysLeft, isUnused } from './grant-rules.ts';
import { NarrowingForm } from './narrowing-form.tsx';
import { datesText, Receipt } from './receipt.tsx';
import { SHOWN_DAYS, SharedPreviews, SharedTypes, toDaysOf } from './shared-types.tsx';
import { StopSharing } from './stop-sharing.tsx';
import { Rich, text } from './texts.ts';

/** One connected app: what it may read, what it has read, and how to narrow or end that. */
export function ConnectedAppPage({ id }: { readonly id: string }) {
  const grant = useGrant(id);
  return (
    <Narrow>
      <Resource isPage query={grant} notFound={<NoSuchConnection />}>
        {(found) => <ConnectedApp grant={found} />}
      </Resource>
    </Narrow>
  );
}

/** Shown instead of a connection that is not the person's. */
function NoSuchConnection() {
  return (
    <EmptyPage title={text('notFound')}>
      <p>{text('notFoundText')}</p>
      <ButtonLink to="/apps">{text('apps')}</ButtonLink>
    </EmptyPage>
  );
}

function ConnectedApp({ grant }: { readonly grant: Grant }) {
  const revocation = useRevocation(grant.id);
  const days = useAccessDays(toDaysOf(grant));
  const isActive = grant.status === 'active';
  const app = appTitle(grant.app);
  const [isChanging, setChanging] = useState(false);
  const form = useId();
  return (
    <>
      <BackLink to="/apps">{text('apps')}</BackLink>
      <PageHeading title={app} lead={findDomain(grant.app, [])} />
      <Stack>
        {isActive ? null : <AfterSharing grant={grant} />}
        <Lead grant={grant} />
        <AppChanges grant={grant} />
        {isUnused(grant, Date.now()) ? <Soft>{unusedText(grant)}.</Soft> : null}
        <StopSharing
          revocation={revocation}
          isOffered={isActive}
          trigger={text('stop')}
          title={text('stopTitle', { app })}
          beside={
            <Button aria-expanded={isChanging} aria-controls={form} onPress={() => setChanging(!isChanging)}>
              {text('change')}
            </Button>
          }
        >
          <p>{text('stopText', { app })}</p>
          <p>{text('shareAgain', { app })}</p>
        </StopSharing>
        {isActive ? (
          <div id={form} hidden={!isChanging}>
            <NarrowingForm grant={grant} />
          </div>
        ) : null}
        <SharedTypes grant={grant} days={days.data ?? null} />
        <section aria-label={text('reads')}>
          <Stack tight>
            <h2>{text('reads')}</h2>
            <Resource query={days}>
              {(found) => (
                <ReadsByDay days={found} grantId={grant.id} empty={<NothingRead grant={grant} />} />
              )}
            </Resource>
          </Stack>
        </section>
        <Rows>
          {isActive ? (
            <Part title={text('preview', { app })}>{() => <SharedPreviews grant={grant} />}</Part>
          ) : null}
          <Part title={text('receipt')}>{() => <Receipt id={grant.id} />}</Part>
          <Part title={text('aboutApp', { app })}>{() => <AboutApp grant={grant} />}</Part>
          <Support clientId={grant.app.clientId} />
        </Rows>
      </Stack>
    </>
  );
}

/** A folded row. */
function Part({ title, children }: { readonly title: string; readonly children: () => ReactNode }) {
  return (
    <li className={style['fold']}>
      <RowWords>
        <Folded title={<h2>{title}</h2>}>{children}</Folded>
      </RowWords>
    </li>
  );
}

const ENDERS = new Map<string | null, 'byApp' | 'byDeveloper' | 'byOperator'>([
  ['app', 'byApp'],
  ['operator', 'byOperator'],
  ['developer', 'byDeveloper'],
]);

/** The connection in two sentences: what, until when or how it ended, and how often the app has read. */
function Lead({ grant }: { readonly grant: Grant }) {
  const { app, status, scopes, grantedAt, expiresAt, revokedAt, endedBy, dataFrom } = grant;
  const count = scopes.length;
  const end = <Instant at={revokedAt ?? expiresAt} />;
  const daysLeft = findDaysLeft(grant, Date.now());
  return (
    <div>
      <strong>
        {status === 'active'
          ? text(app.suspended === true ? 'suspendedUntil' : 'canReadUntil', {
              count,
              days: daysLeft ?? -1,
              day: formatLastDay(expiresAt),
            })
          : null}
        {status === 'expired' ? <Rich id="couldReadUntil" values={{ count, end }} /> : null}
        {status === 'revoked' ? (
          <Rich id="endedBy" values={{ count, end, by: text(ENDERS.get(endedBy) ?? 'byYou') }} />
        ) : null}{' '}
        {readsText(grant)}
      </strong>
      <Soft>
        {text('termsSince', { day: formatDay(grantedAt), dates: datesText(dataFrom) })}{' '}
        {daysLeft === null ? null : text('shareLonger', { app: appTitle(grant.app) })}
      </Soft>
    </div>
  );
}

function readsText({ status, lastAccessAt, accessCount }: Grant): string {
  if (lastAccessAt !== null)
    return text('readTimes', { count: accessCount, when: formatRecent(lastAccessAt) });
  return status === 'active' ? text('nothingRead') : '';
}

function NothingRead({ grant: { status, lastAccessAt } }: { readonly grant: Grant }) {
  const mayRead = status === 'active' && lastAccessAt === null;
  return <Soft>{text(mayRead ? 'readsEmpty' : 'nothingLately', { days: SHOWN_DAYS })}</Soft>;
}

/** The deployment's address for people who need help with an app, with the app's id in it; nothing if there is none. */
function Support({ clientId }: { readonly clientId: string }) {
  const url = URL.parse(readDeployment().supportUrl ?? '');
  if (url === null) return null;
  if (url.protocol === 'mailto:') url.search = `subject=${clientId}`;
  else url.searchParams.set('app', clientId);
  return (
    <li className={style['fold']}>
      <span className={style['target']}>
        <a href={url.href} rel="noopener noreferrer">
          {text('support')}
        </a>
      </span>
    </li>
  );
}

/** The app as the person was shown it: its own words, its developer, its domain and its links. */
function AboutApp({ grant: { app, purpose, appChanges } }: { readonly grant: Grant }) {
  const { description } = app;
  const hasWords = description !== null || purpose !== null;
  const [website, privacyPolicy] =
    appChanges === undefined
      ? (['website', 'privacyPolicy'] as const)
      : (['websiteThen', 'privacyPolicyThen'] as const);
  return (
    <Stack>
      {description === null ? null : (
        <p className={style['words']}>
          <Rich id="quoted" values={{ words: description }} />
        </p>
      )}
      {purpose === null ? null : (
        <p>
          <Rich id="purpose" values={{ app: app.name, purpose }} components={{ q: <q /> }} />
        </p>
      )}
      {hasWords ? <Soft>{text('ownWords')}</Soft> : null}
      <Facts
        facts={[
          [
            text('developer'),
            app.developerName === null ? null : <bdi key="developer">{app.developerName}</bdi>,
          ],
          [text('domain'), app.redirectHost],
          [text('clientId'), <code key="id">{app.clientId}</code>],
        ]}
      />
      <div className={style['target']}>
        <Row>
          <WebLink url={app.homepageUrl}>{text(website)}</WebLink>
          <WebLink url={app.privacyPolicyUrl}>{text(privacyPolicy)}</WebLink>
        </Row>
      </div>
    </Stack>
  );
}
