import { Route, Switch } from 'wouter';
import { NoSuchPage } from '../../ui/notice.tsx';
import { AppPage } from './app-page.tsx';
import { AppsPage } from './apps-page.tsx';
import { NewAppPage } from './new-app-page.tsx';

/** The pages of the developer console. */
export function Console() {
  return (
    <Switch>
      <Route path="/console" component={AppsPage} />
      <Route path="/console/new" component={NewAppPage} />
      <Route path="/console/:clientId/:tab?">
        {({ clientId, tab }) => <AppPage clientId={clientId} tab={tab} />}
      </Route>
      <Route component={NoSuchPage} />
    </Switch>
  );
}
