import { type AppSettings, useApp, useSettingsChange } from '../../api/developer-apps.ts';
import type { DeveloperApp } from '../../api/resources.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Card, Facts, Stack } from '../../ui/card.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { PageHeading } from '../../ui/layout.tsx';
import { EmptyPage } from '../../ui/notice.tsx';
import { Resource } from '../../ui/resource.tsx';
import { Instant } from '../../ui/time.tsx';
import { AppForm, settingsOf } from './app-form.tsx';
import { AppStatusTag } from './app-status-tag.tsx';
import { Credentials } from './credentials.tsx';
import { FirstCall } from './first-call.tsx';
import { Usage } from './usage.tsx';

export function DeveloperAppPage({ clientId }: { readonly clientId: string }) {
  const app = useApp(clientId);
  return (
    <Resource query={app} notFound={<NoApp />}>
      {(found) => (
        <>
          <PageHeading title={found.name} lead={<AppStatusTag status={found.status} />} />
          <Stack>
            <About app={found} />
            <Usage clientId={clientId} />
            <FirstCall app={found} />
            <Settings app={found} />
          </Stack>
        </>
      )}
    </Resource>
  );
}

function NoApp() {
  return (
    <EmptyPage title="There is no such app of yours">
      <p>Its id is not complete, or it belongs to somebody else.</p>
      <ButtonLink to="/console">Your apps</ButtonLink>
    </EmptyPage>
  );
}

function About({ app }: { readonly app: DeveloperApp }) {
  return (
    <Card label="Credentials and status">
      <Facts
        facts={[
          [
            'Client id',
            <span key="id">
              <code>{app.clientId}</code> <CopyButton value={app.clientId}>Copy</CopyButton>
            </span>,
          ],
          ['Client secret', <code key="secret">…{app.secretLast4}</code>],
          ['Registered', <Instant key="created" at={app.createdAt} />],
          ['Changed', <Instant key="updated" at={app.updatedAt} />],
        ]}
      />
      <Credentials app={app} />
    </Card>
  );
}

const DOUBT = {
  unknown: 'We could not find out whether the settings were saved.',
  advice: 'Check your connection, then save again. The same settings twice do no harm.',
};

function Settings({ app }: { readonly app: DeveloperApp }) {
  const change = useSettingsChange(app.clientId);
  return (
    <Stack>
      <h2>Settings</h2>
      <AppForm
        app={app}
        submit="Save"
        onSubmit={(settings, onSaved) =>
          change.mutate(findChanges(settingsOf(app), settings), { onSuccess: onSaved })
        }
        isPending={change.isPending}
        isSaved={change.isSuccess}
        failure={change.failure}
        doubt={DOUBT}
      />
    </Stack>
  );
}

/** The changed settings only, because others may be changed elsewhere at the same time. */
function findChanges(present: AppSettings, settings: AppSettings): Partial<AppSettings> {
  const names = Object.keys(settings) as (keyof AppSettings)[];
  const changed = names.filter((name) => JSON.stringify(settings[name]) !== JSON.stringify(present[name]));
  return Object.fromEntries(changed.map((name) => [name, settings[name]]));
}
