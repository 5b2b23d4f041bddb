import { type AppSettings, useApp, useApps, useSettingsChange } from '../../api/developer-apps.ts';
import type { DeveloperApp } from '../../api/resources.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Card, Facts, Row, Soft, Stack } from '../../ui/card.tsx';
import { CopyButton } from '../../ui/code.tsx';
import { PageHeading } from '../../ui/layout.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Resource } from '../../ui/resource.tsx';
import { Instant } from '../../ui/time.tsx';
import { AppForm, settingsOf } from './app-form.tsx';
import { AppStatusTag } from './app-status-tag.tsx';
import { Credentials } from './credentials.tsx';
import { FirstCall } from './first-call.tsx';
import { KeysAndTokens } from './keys-and-tokens.tsx';
import { NoApp } from './no-app.tsx';
import { text } from './texts.ts';
import { CopiedTokens, Usage } from './usage.tsx';

export function DeveloperAppPage({ clientId }: { readonly clientId: string }) {
  const app = useApp(clientId);
  return (
    <Resource query={app} notFound={<NoApp />}>
      {(found) => (
        <>
          <PageHeading
            title={found.name}
            lead={<AppStatusTag app={found} />}
            actions={<AppPages app={found} />}
          />
          <Stack>
            <Lock app={found} />
            <CopiedTokens clientId={clientId} />
            <About app={found} />
            <KeysAndTokens app={found} />
            <Usage clientId={clientId} />
            <FirstCall app={found} />
            <Settings app={found} />
          </Stack>
        </>
      )}
    </Resource>
  );
}

/** Why the app cannot be active. */
function Lock({ app: { lock } }: { readonly app: DeveloperApp }) {
  if (lock === null) return null;
  const isWaiting = lock.kind === 'approval';
  return (
    <Notice tone="warn">
      <strong>{text(isWaiting ? 'waitingTitle' : 'lockedTitle')}</strong>
      {lock.reason === null ? null : <span>{text('lockedReason', { reason: lock.reason })}</span>}
      <span>{text(isWaiting ? 'waitingAdvice' : 'lockedAdvice')}</span>
      <Soft>
        <Instant at={lock.since} />
      </Soft>
    </Notice>
  );
}

/** Links to the other pages of an app. */
function AppPages({ app: { clientId } }: { readonly app: DeveloperApp }) {
  const { data: apps } = useApps(1);
  return (
    <nav aria-label={text('pagesOfApp')}>
      <Row>
        <ButtonLink to={`/console/${clientId}/requests`}>{text('requestLog')}</ButtonLink>
        <ButtonLink to={`/console/${clientId}/webhook`}>{text('webhook')}</ButtonLink>
        {apps?.sandbox ? (
          <ButtonLink to={`/console/${clientId}/sandbox`}>{text('sandbox')}</ButtonLink>
        ) : null}
      </Row>
    </nav>
  );
}

function About({ app }: { readonly app: DeveloperApp }) {
  return (
    <Card label={text('credentials')}>
      <Facts
        facts={[
          [
            text('clientId'),
            <span key="id">
              <code>{app.clientId}</code> <CopyButton value={app.clientId}>{text('copyId')}</CopyButton>
            </span>,
          ],
          [
            text('clientSecret'),
            app.secretLast4 === '' ? null : <code key="secret">…{app.secretLast4}</code>,
          ],
          [text('registeredOn'), <Instant key="created" at={app.createdAt} />],
          [text('changedOn'), <Instant key="updated" at={app.updatedAt} />],
        ]}
      />
      <Credentials app={app} />
    </Card>
  );
}

function Settings({ app }: { readonly app: DeveloperApp }) {
  const change = useSettingsChange(app.clientId);
  return (
    <Stack>
      <h2>{text('settings')}</h2>
      <AppForm
        app={app}
        submit={text('save')}
        onSubmit={(settings, onSaved) =>
          change.mutate(findChanges(settingsOf(app), settings), { onSuccess: onSaved })
        }
        isPending={change.isPending}
        isSaved={change.isSuccess}
        failure={change.failure}
        doubt={{ unknown: text('settingsUnknown'), advice: text('settingsAdvice') }}
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
