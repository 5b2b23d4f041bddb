import { useLingui } from '@lingui/react';
import { isScope } from '@phds/catalog/scopes';
import { Suspense } from 'react';
import { Route, Switch, useLocation } from 'wouter';
import { findPageMessage } from './api/page-message.ts';
import { StartPage } from './pages/start-page.tsx';
import { Shell } from './ui/layout.tsx';
import { lazyPart } from './ui/lazy-part.ts';
import { Loading, NoSuchPage } from './ui/notice.tsx';
import { FailureBoundary } from './ui/resource.tsx';
import { SignedIn } from './ui/signed-in.tsx';

const ApprovalPage = lazyPart(async () => (await import('./pages/approve/approval-page.tsx')).ApprovalPage);
const ConnectedAppsPage = lazyPart(
  async () => (await import('./pages/apps/connected-apps-page.tsx')).ConnectedAppsPage,
);
const ConnectedAppPage = lazyPart(
  async () => (await import('./pages/apps/connected-app-page.tsx')).ConnectedAppPage,
);
const HistoryPage = lazyPart(async () => (await import('./pages/history/history-page.tsx')).HistoryPage);
const MyDataPage = lazyPart(async () => (await import('./pages/data/my-data-page.tsx')).MyDataPage);
const DataOfTypePage = lazyPart(async () => (await import('./pages/data/my-data-page.tsx')).DataOfTypePage);
const Console = lazyPart(async () => (await import('./pages/console/console.tsx')).Console);
const MessagePage = lazyPart(async () => (await import('./pages/message/message-page.tsx')).MessagePage);
const SignedInPage = lazyPart(
  async () => (await import('./pages/signed-in/signed-in-page.tsx')).SignedInPage,
);

/** The pages of a signed-in person. */
const PERSONAL = /^\/(?:apps|history|data|console)(?:\/.*)?$/;

/** Routes of all pages. The gateway serves the app under the same paths. */
export function App() {
  const [path] = useLocation();
  // Renders all pages again when the language changes.
  useLingui();
  return (
    <Shell>
      <FailureBoundary key={path}>
        <Suspense fallback={<Loading />}>
          <Switch>
            <Route path="/">
              <StartPage>
                <ConnectedAppsPage />
              </StartPage>
            </Route>
            <Route path="/approve/:id">{({ id }) => <ApprovalPage id={id} />}</Route>
            <Route path="/signed-in" component={SignedInPage} />
            <Route path={PERSONAL}>
              <SignedIn>
                <PersonalPages />
              </SignedIn>
            </Route>
            <Route component={OtherPage} />
          </Switch>
        </Suspense>
      </FailureBoundary>
    </Shell>
  );
}

function PersonalPages() {
  return (
    <Switch>
      <Route path="/apps" component={ConnectedAppsPage} />
      <Route path="/apps/:id">{({ id }) => <ConnectedAppPage id={id} />}</Route>
      <Route path="/history" component={HistoryPage} />
      <Route path="/data" component={MyDataPage} />
      <Route path="/data/:scope">
        {({ scope }) => (isScope(scope) ? <DataOfTypePage scope={scope} /> : <NoSuchPage />)}
      </Route>
      <Route path="/console/*?" component={Console} />
      <Route component={NoSuchPage} />
    </Switch>
  );
}

/** At an address that is no page of the app: what the gateway has to say there, if anything. */
function OtherPage() {
  const [path] = useLocation();
  const message = findPageMessage(path);
  return message === null ? <NoSuchPage /> : <MessagePage message={message} />;
}
