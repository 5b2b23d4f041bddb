import { ENVIRONMENTS, type Environment } from '@phds/catalog/sandbox';
import { useState } from 'react';
import { findNew, useAllApps, useApps, useRegistration } from '../../api/developer-apps.ts';
import type { DeveloperApp, NewApp } from '../../api/resources.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Row, Soft, Stack } from '../../ui/card.tsx';
import { Narrow, PageHeading } from '../../ui/layout.tsx';
import { EmptyPage } from '../../ui/notice.tsx';
import { RadioChoice } from '../../ui/radio-choice.tsx';
import { AppForm } from './app-form.tsx';
import { FirstCall } from './first-call.tsx';
import { SecretOnce } from './secret-once.tsx';
import { text } from './texts.ts';

/** Registers an app. Its secret is shown on this page only. */
export function NewAppPage() {
  const { data: apps } = useAllApps();
  const { data: firstPage } = useApps(1);
  const registration = useRegistration();
  const [environment, setEnvironment] = useState<Environment>('live');
  const [sent, setSent] = useState<{ name: string; before: readonly DeveloperApp[] } | null>(null);
  if (registration.data) return <Registered app={registration.data} />;
  const isMade = registration.data === null || registration.failure?.standing === 'made';
  if (isMade && sent !== null) return <AnswerLost app={findNew(apps ?? [], sent.before, sent.name)} />;
  if (firstPage?.mayRegister === false) return <NotDeveloper />;
  return (
    <Narrow>
      <PageHeading title={text('register')} />
      <AppForm
        submit={text('registerApp')}
        onSubmit={(settings) => {
          if (!registration.isPending) setSent({ name: settings.name, before: apps ?? [] });
          registration.mutate({ ...settings, environment });
        }}
        isPending={registration.isPending}
        failure={registration.failure}
        doubt={{ unknown: text('registrationUnknown'), advice: text('registrationAdvice') }}
      >
        <EnvironmentChoice environment={environment} onChange={setEnvironment} />
      </AppForm>
    </Narrow>
  );
}

function NotDeveloper() {
  return (
    <EmptyPage title={text('notDeveloper')}>
      <p>{text('notDeveloperAdvice')}</p>
      <ButtonLink to="/console">{text('yourApps')}</ButtonLink>
    </EmptyPage>
  );
}

function Registered({ app }: { readonly app: NewApp }) {
  return (
    <Narrow>
      <PageHeading title={text('registered', { app: app.name })} />
      <Stack>
        <SecretOnce clientId={app.clientId} secret={app.clientSecret ?? ''} />
        <FirstCall app={app} />
        <Row>
          <ButtonLink to={`/console/${app.clientId}`} kind="primary">
            {text('secretKept')}
          </ButtonLink>
        </Row>
      </Stack>
    </Narrow>
  );
}

/** The app was registered, but its secret was lost with the response. */
function AnswerLost({ app }: { readonly app: DeveloperApp | null }) {
  return (
    <EmptyPage title={text('registeredUnseen')}>
      <p>{text('registeredUnseenAdvice')}</p>
      <ButtonLink to={app === null ? '/console' : `/console/${app.clientId}`} kind="primary">
        {app === null ? text('yourApps') : text('openApp', { app: app.name })}
      </ButtonLink>
    </EmptyPage>
  );
}

const TEXTS = {
  live: { name: 'live', effect: 'liveEffect' },
  sandbox: { name: 'sandbox', effect: 'sandboxEffect' },
} as const satisfies Record<Environment, object>;

/** Whether a new app works with people or with made-up ones. */
function EnvironmentChoice({
  environment,
  onChange,
}: {
  readonly environment: Environment;
  readonly onChange: (environment: Environment) => void;
}) {
  return (
    <Stack tight>
      <RadioChoice
        label={text('environment')}
        choices={ENVIRONMENTS.map((id) => ({ id, text: text(TEXTS[id].name) }))}
        value={environment}
        onChange={(id) => onChange(ENVIRONMENTS.find((known) => known === id) ?? 'live')}
      />
      <Soft>{text(TEXTS[environment].effect)}</Soft>
    </Stack>
  );
}
