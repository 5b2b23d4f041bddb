import { Suspense } from 'react';
import { Link } from 'wouter';
import { useApp, useApps } from '../../api/developer-apps.ts';
import type { DeveloperApp } from '../../api/resources.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Row, Soft, Stack } from '../../ui/card.tsx';
import { CopyButton } from '../../ui/code.tsx';
import { BackLink, PageHeading } from '../../ui/layout.tsx';
import { lazyPart } from '../../ui/lazy-part.ts';
import { EmptyPage, Loading, NoSuchPage, Notice } from '../../ui/notice.tsx';
import { Resource, together } from '../../ui/resource.tsx';
import { Instant } from '../../ui/time.tsx';
import style from './app-page.module.css';
import { AppStatusTag } from './app-status-tag.tsx';
import { Overview } from './overview.tsx';
import { Settings } from './settings.tsx';
import { text } from './texts.ts';

// What one tab alone needs is loaded with it.
const Credentials = lazyPart(async () => (await import('./credentials.tsx')).Credentials);
const RequestLog = lazyPart(async () => (await import('./request-log.tsx')).RequestLog);
const WebhookTab = lazyPart(async () => (await import('./webhook/webhook-tab.tsx')).WebhookTab);
const Triggers = lazyPart(async () => (await import('./sandbox/triggers.tsx')).Triggers);

/** The tabs of an app, by the last part of their address. */
const TABS = [
  { path: undefined, title: 'overview', Content: Overview },
  { path: 'credentials', title: 'credentials', Content: Credentials },
  { path: 'log', title: 'log', Content: RequestLog },
  { path: 'webhook', title: 'webhook', Content: WebhookTab },
  { path: 'settings', title: 'settings', Content: Settings },
  { path: 'sandbox', title: 'sandbox', Content: Triggers },
] as const;

/** A tab of an app. That of the sandbox is in a sandbox deployment only. */
export function AppPage({ clientId, tab }: { readonly clientId: string; readonly tab: string | undefined }) {
  const query = together([useApp(clientId), useApps(1)]);
  return (
    <Resource isPage query={query} notFound={<NoApp />}>
      {([app, { sandbox }]) => {
        const tabs = TABS.filter(({ path }) => sandbox || path !== 'sandbox');
        const shown = tabs.find(({ path }) => path === tab);
        if (shown === undefined) return <NoSuchPage />;
        return (
          <>
            <BackLink to="/console">{text('appsShort')}</BackLink>
            <PageHeading
              title={app.name}
              page={text(shown.title)}
              actions={
                <Row>
                  <AppStatusTag app={app} />
                  <code>{clientId}</code>
                  <CopyButton value={clientId}>{text('copyId')}</CopyButton>
                </Row>
              }
            />
            <nav className={style['tabs']} aria-label={text('pagesOfApp')}>
              {tabs.map(({ path, title }) => (
                <Link
                  key={title}
                  href={path === undefined ? `/console/${clientId}` : `/console/${clientId}/${path}`}
                  aria-current={path === tab ? 'page' : undefined}
                >
                  {text(title)}
                </Link>
              ))}
            </nav>
            <Stack>
              <Lock app={app} />
              <Suspense fallback={<Loading />}>
                <shown.Content app={app} />
              </Suspense>
            </Stack>
          </>
        );
      }}
    </Resource>
  );
}

/** For an address that names no app of this developer. */
function NoApp() {
  return (
    <EmptyPage title={text('noSuchApp')}>
      <p>{text('noSuchAppAdvice')}</p>
      <ButtonLink to="/console">{text('yourApps')}</ButtonLink>
    </EmptyPage>
  );
}

/** Why the app cannot be active. */
function Lock({ app: { lock } }: { readonly app: DeveloperApp }) {
  if (lock === null) return null;
  const isWaiting = lock.kind === 'approval';
  return (
    <Notice tone="warn" title={text(isWaiting ? 'waitingTitle' : 'lockedTitle')}>
      {lock.reason === null ? null : <span>{text('lockedReason', { reason: lock.reason })}</span>}
      <span>{text(isWaiting ? 'waitingAdvice' : 'lockedAdvice')}</span>
      <Soft>
        <Instant at={lock.since} />
      </Soft>
    </Notice>
  );
}
