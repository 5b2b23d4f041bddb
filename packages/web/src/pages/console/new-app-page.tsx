import { useState } from 'react';
import { useApps, useRegistration } from '../../api/developer-apps.ts';
import type { ApplicationType, NewApp } from '../../api/resources.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Row, Soft, Stack } from '../../ui/card.tsx';
import { PageHeading } from '../../ui/layout.tsx';
import { EmptyPage } from '../../ui/notice.tsx';
import { RadioChoice } from '../../ui/radio-choice.tsx';
import { AppForm } from './app-form.tsx';
import { FirstCall } from './first-call.tsx';
import { SecretOnce } from './secret-once.tsx';
import { text } from './texts.ts';

/** Registers an app. Its secret is shown on this page only. */
export function NewAppPage() {
  const { data: firstPage } = useApps(1);
  const registration = useRegistration();
  const [type, setType] = useState<ApplicationType>('server');
  if (registration.data) return <Registered app={registration.data} />;
  if (firstPage?.mayRegister === false) return <NotDeveloper />;
  return (
    <>
      <PageHeading title={text('register')} />
      <AppForm
        submit={text('registerApp')}
        onSubmit={(settings) => registration.mutate({ ...settings, applicationType: type })}
        isPending={registration.isPending}
        error={registration.error}
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
    <>
      <PageHeading title={text('registered', { app: app.name })} />
      <Stack>
        <SecretOnce {...app} />
        <FirstCall app={app} />
        <Row>
          <ButtonLink to={`/console/${app.clientId}`} kind="primary">
            {app.clientSecret === null ? text('openApp', { app: app.name }) : text('secretKept')}
          </ButtonLink>
        </Row>
      </Stack>
    </>
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
