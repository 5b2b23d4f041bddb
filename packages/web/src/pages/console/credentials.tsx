import { useRotation, useStatusChange } from '../../api/developer-apps.ts';
import type { AppStatus, DeveloperApp } from '../../api/resources.ts';
import { Button } from '../../ui/button.tsx';
import { Row, Stack } from '../../ui/card.tsx';
import { ChangeNotice } from '../../ui/change-notice.tsx';
import { Confirmation } from '../../ui/confirmation.tsx';
import { focusHeading } from '../../ui/focus.ts';
import { Notice } from '../../ui/notice.tsx';
import { SecretOnce } from './secret-once.tsx';

/** Rotates the secret, suspends, revokes and activates; each asks for confirmation with its consequences. */
export function Credentials({ app }: { readonly app: DeveloperApp }) {
  const rotation = useRotation(app.clientId);
  const status = useStatusChange(app.clientId);
  const isBusy = rotation.isPending || status.isPending;
  const rotate = () => {
    status.reset();
    rotation.mutate(undefined);
  };
  const change = (to: AppStatus) => {
    if (rotation.failure !== null) rotation.reset();
    // Each change removes the button that was pressed.
    status.mutate(to, { onSuccess: focusHeading });
  };
  return (
    <Stack>
      <Rotated rotation={rotation} />
      <ChangeNotice
        failure={status.failure}
        undone="The status has not changed yet."
        unknown="We could not find out whether the status has changed."
        advice="Check your connection, then choose it again. The same status twice does no harm."
      />
      <Row>
        <Confirmation
          trigger="Rotate the secret"
          triggerKind="plain"
          title="Rotate the secret?"
          confirm="Rotate"
          isBusy={rotation.isPending}
          isBlocked={isBusy}
          onConfirm={rotate}
        >
          <p>The old secret fails at the very next request. Tokens that were issued live on.</p>
        </Confirmation>
        <StatusButtons
          app={app}
          isBlocked={isBusy}
          beingSet={status.isPending ? status.variables : null}
          onChange={change}
        />
      </Row>
    </Stack>
  );
}

/** The new secret, or its status if the response was lost. */
function Rotated({ rotation }: { readonly rotation: ReturnType<typeof useRotation> }) {
  const { data, failure } = rotation;
  if (data) return <SecretOnce clientId={data.clientId} secret={data.clientSecret} />;
  if (data === null || failure?.standing === 'made') {
    return (
      <div role="alert">
        <Notice tone="warn">
          <strong>The secret was rotated, but the new one did not reach this page.</strong>
          <span>The old one no longer works. Rotate once more to get a secret that you can see.</span>
        </Notice>
      </div>
    );
  }
  return (
    <ChangeNotice
      failure={failure}
      undone="The secret was not rotated yet."
      unknown="We could not find out whether the secret was rotated."
      advice="The old one may have stopped working. Check your connection, then rotate again to get a secret that you can see."
    />
  );
}

function StatusButtons({
  app,
  isBlocked,
  beingSet,
  onChange,
}: {
  readonly app: DeveloperApp;
  readonly isBlocked: boolean;
  /** The status that is currently being set. */
  readonly beingSet: AppStatus | null;
  readonly onChange: (to: AppStatus) => void;
}) {
  return (
    <>
      {app.status === 'active' ? (
        <Confirmation
          trigger="Suspend"
          triggerKind="plain"
          title={`Suspend ${app.name}?`}
          confirm="Suspend"
          isBusy={beingSet === 'suspended'}
          isBlocked={isBlocked}
          onConfirm={() => onChange('suspended')}
        >
          <p>
            Every token and the secret are refused at once. Consents stay; activate the app again to go on.
          </p>
        </Confirmation>
      ) : (
        <Button onPress={() => onChange('active')} isBusy={isBlocked}>
          Activate
        </Button>
      )}
      {app.status === 'revoked' ? null : (
        <Confirmation
          trigger="Revoke"
          title={`Revoke ${app.name}?`}
          confirm="Revoke for good"
          isBusy={beingSet === 'revoked'}
          isBlocked={isBlocked}
          onConfirm={() => onChange('revoked')}
        >
          <p>
            All consents, tokens, waiting approvals and secrets of the app end for good. Nothing brings them
            back.
          </p>
        </Confirmation>
      )}
    </>
  );
}
