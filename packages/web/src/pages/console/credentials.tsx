import { useRotation, useStatusChange } from '../../api/developer-apps.ts';
import type { AppStatus, DeveloperApp } from '../../api/resources.ts';
import { Button } from '../../ui/button.tsx';
import { Row, Stack } from '../../ui/card.tsx';
import { Confirmation } from '../../ui/confirmation.tsx';
import { focusHeading } from '../../ui/focus.ts';
import { ErrorNotice } from '../../ui/notice.tsx';
import { SecretOnce } from './secret-once.tsx';

/** Rotates the secret, suspends, revokes and activates; each says what it will do before it does it. */
export function Credentials({ app }: { readonly app: DeveloperApp }) {
  const rotation = useRotation(app.clientId);
  const status = useStatusChange(app.clientId);
  // Each change takes away the button that was pressed.
  const change = (to: AppStatus) => status.mutate(to, { onSuccess: focusHeading });
  const error = rotation.error ?? status.error;
  return (
    <Stack>
      {rotation.data === undefined ? null : (
        <SecretOnce clientId={rotation.data.clientId} secret={rotation.data.clientSecret} />
      )}
      {error === null ? null : <ErrorNotice error={error} />}
      <Row>
        <Confirmation
          trigger="Rotate the secret"
          triggerKind="plain"
          title="Rotate the secret?"
          confirm="Rotate"
          onConfirm={() => rotation.mutate(undefined)}
        >
          <p>The old secret fails at the very next request. Tokens that were issued live on.</p>
        </Confirmation>
        {app.status === 'active' ? (
          <Confirmation
            trigger="Suspend"
            triggerKind="plain"
            title={`Suspend ${app.name}?`}
            confirm="Suspend"
            onConfirm={() => change('suspended')}
          >
            <p>
              Every token and the secret are refused at once. Consents stay; activate the app again to go on.
            </p>
          </Confirmation>
        ) : (
          <Button onPress={() => change('active')} isBusy={status.isPending}>
            Activate
          </Button>
        )}
        {app.status === 'revoked' ? null : (
          <Confirmation
            trigger="Revoke"
            title={`Revoke ${app.name}?`}
            confirm="Revoke for good"
            onConfirm={() => change('revoked')}
          >
            <p>
              All consents, tokens, waiting approvals and secrets of the app end for good. Nothing brings them
              back.
            </p>
          </Confirmation>
        )}
      </Row>
    </Stack>
  );
}
