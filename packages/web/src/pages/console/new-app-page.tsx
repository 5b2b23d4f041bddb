import { useState } from 'react';
import { findNew, useAllApps, useApps, useRegistration } from '../../api/developer-apps.ts';
import type { ApplicationType, DeveloperApp, NewApp } from '../../api/resources.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Row, Soft, Stack } from '../../ui/card.tsx';
import { focusInvalidField } from '../../ui/focus.ts';
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
  const [type, setType] = useState<ApplicationType>('server');
  const [sent, setSent] = useState<{ name: string; before: readonly DeveloperApp[] } | null>(null);
  if (registration.data) return <Registered app={registration.data} />;
  const isMade = registration.data === null || registration.failure?.outcome === 'made';
  if (isMade && sent !== null)
    return <AnswerLost type={type} app={findNew(apps ?? [], sent.before, sent.name)} />;
  if (firstPage?.mayRegister === false) return <NotDeveloper />;
  return (
    <>
      <PageHeading title={text('register')} />
      <AppForm
        submit={text('registerApp')}
        onSubmit={(settings) => {
          if (!registration.isPending) setSent({ name: settings.name, before: apps ?? [] });
          registration.mutate({ ...settings, applicationType: type }, { onError: focusInvalidField });
        }}
        isPending={registration.isPending}
        failure={registration.failure}
        doubt={{ unknown: text('registrationUnknown'), advice: text('registrationAdvice') }}
      >
        <TypeChoice value={type} onChange={setType} />
      </AppForm>
    </>
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
        <SecretOnce clientId={app.clientId} secret={app.clientSecret} />
        <FirstCall app={app} />
        <Row>
          <ButtonLink to={`/console/${app.clientId}`} kind="primary">
            {app.clientSecret === null ? text('openApp', { app: app.name }) : text('secretKept')}
          </ButtonLink>
        </Row>
      </Stack>
    </Narrow>
  );
}

/** The app was registered, but its secret, if it has one, was lost with the response. */
function AnswerLost({ type, app }: { readonly type: ApplicationType; readonly app: DeveloperApp | null }) {
  return (
    <EmptyPage title={text('registeredUnseen')}>
      {type === 'server' ? <p>{text('registeredUnseenAdvice')}</p> : null}
      <ButtonLink to={app === null ? '/console' : `/console/${app.clientId}`} kind="primary">
        {app === null ? text('yourApps') : text('openApp', { app: app.name })}
      </ButtonLink>
    </EmptyPage>
  );
}

const TYPES = {
  server: { name: 'typeServer', effect: 'typeServerEffect' },
  public: { name: 'typePublic', effect: 'typePublicEffect' },
} as const;

const TYPE_IDS = Object.keys(TYPES) as ApplicationType[];

/** Where the app runs, with what that means. */
function TypeChoice({
  value,
  onChange,
}: {
  readonly value: ApplicationType;
  readonly onChange: (value: ApplicationType) => void;
}) {
  return (
    <Stack tight>
      <RadioChoice
        label={text('applicationType')}
        choices={TYPE_IDS.map((id) => ({ id, text: text(TYPES[id].name) }))}
        value={value}
        onChange={(chosen) => onChange(TYPE_IDS.find((id) => id === chosen) ?? value)}
      />
      <Soft>{text(TYPES[value].effect)}</Soft>
    </Stack>
  );
}
