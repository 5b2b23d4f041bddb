import type { Environment } from '@phds/catalog/sandbox';
import { useState } from 'react';
import { findNew, useAllApps, useApps, useRegistration } from '../../api/developer-apps.ts';
import type { ApplicationType, DeveloperApp, NewApp } from '../../api/resources.ts';
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
  const [type, setType] = useState<ApplicationType>('server');
  const [sent, setSent] = useState<{ name: string; before: readonly DeveloperApp[] } | null>(null);
  if (registration.data) return <Registered app={registration.data} />;
  const isMade = registration.data === null || registration.failure?.outcome === 'made';
  if (isMade && sent !== null)
    return <AnswerLost type={type} app={findNew(apps ?? [], sent.before, sent.name)} />;
  if (firstPage?.mayRegister === false) return <NotDeveloper />;
  return (
    <Narrow>
      <PageHeading title={text('register')} />
      <AppForm
        type={type}
        submit={text('registerApp')}
        onSubmit={(settings) => {
          if (!registration.isPending) setSent({ name: settings.name, before: apps ?? [] });
          registration.mutate({ ...settings, environment, applicationType: type });
        }}
        isPending={registration.isPending}
        failure={registration.failure}
        doubt={{ unknown: text('registrationUnknown'), advice: text('registrationAdvice') }}
      >
        <Choice
          label={text('environment')}
          texts={ENVIRONMENT_TEXTS}
          value={environment}
          onChange={setEnvironment}
        />
        <Choice label={text('applicationType')} texts={TYPE_TEXTS} value={type} onChange={setType} />
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

type TextId = Parameters<typeof text>[0];
type ChoiceTexts<Id extends string> = Readonly<
  Record<Id, { readonly name: TextId; readonly effect: TextId }>
>;

const ENVIRONMENT_TEXTS: ChoiceTexts<Environment> = {
  live: { name: 'live', effect: 'liveEffect' },
  sandbox: { name: 'sandbox', effect: 'sandboxEffect' },
};

const TYPE_TEXTS: ChoiceTexts<ApplicationType> = {
  server: { name: 'typeServer', effect: 'typeServerEffect' },
  public: { name: 'typePublic', effect: 'typePublicEffect' },
};

/** One of a few kinds of app, with what it means. */
function Choice<Id extends string>({
  label,
  texts,
  value,
  onChange,
}: {
  readonly label: string;
  readonly texts: ChoiceTexts<Id>;
  readonly value: Id;
  readonly onChange: (value: Id) => void;
}) {
  const ids = Object.keys(texts) as Id[];
  return (
    <Stack tight>
      <RadioChoice
        label={label}
        choices={ids.map((id) => ({ id, text: text(texts[id].name) }))}
        value={value}
        onChange={(chosen) => onChange(ids.find((id) => id === chosen) ?? value)}
      />
      <Soft>{text(texts[value].effect)}</Soft>
    </Stack>
  );
}
