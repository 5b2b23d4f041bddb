import { useRegistration } from '../../api/developer-apps.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Row, Stack } from '../../ui/card.tsx';
import { Narrow, PageHeading } from '../../ui/layout.tsx';
import { AppForm } from './app-form.tsx';
import { FirstCall } from './first-call.tsx';
import { SecretOnce } from './secret-once.tsx';

/** Registers an app; its secret is shown on this page and never again. */
export function NewAppPage() {
  const registration = useRegistration();
  const { data: app } = registration;
  if (app === undefined) {
    return (
      <Narrow>
        <PageHeading title="Register an app" />
        <AppForm
          submit="Register"
          onSubmit={(settings) => registration.mutate(settings)}
          isPending={registration.isPending}
          error={registration.error}
        />
      </Narrow>
    );
  }
  return (
    <Narrow>
      <PageHeading title={`${app.name} is registered`} />
      <Stack>
        <SecretOnce clientId={app.clientId} secret={app.clientSecret} />
        <FirstCall app={app} />
        <Row>
          <ButtonLink to={`/console/${app.clientId}`} kind="primary">
            I have kept the secret
          </ButtonLink>
        </Row>
      </Stack>
    </Narrow>
  );
}
