import { useRotation, useStatusChange } from '../../api/developer-apps.ts';
import type { AppStatus, DeveloperApp } from '../../api/resources.ts';
import { Button } from '../../ui/button.tsx';
import { Row, Stack } from '../../ui/card.tsx';
import { ChangeNotice } from '../../ui/change-notice.tsx';
import { Confirmation } from '../../ui/confirmation.tsx';
import { focusHeading } from '../../ui/focus.ts';
import { Rotated } from './secret-rotation.tsx';
import { text } from './texts.ts';

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
        undone={text('statusUnchanged')}
        unknown={text('statusUnknown')}
        advice={text('statusAdvice')}
      />
      <Row>
        {app.tokenEndpointAuthMethod === 'client_secret_basic' ? (
          <Confirmation
            trigger={text('rotate')}
            triggerKind="plain"
            title={text('rotateTitle')}
            confirm={text('rotateConfirm')}
            isBusy={rotation.isPending}
            isBlocked={isBusy}
            onConfirm={rotate}
          >
            <p>{text('rotateEffect')}</p>
          </Confirmation>
        ) : null}
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
          trigger={text('suspend')}
          triggerKind="plain"
          title={text('suspendTitle', { app: app.name })}
          confirm={text('suspend')}
          isBusy={beingSet === 'suspended'}
          isBlocked={isBlocked}
          onConfirm={() => onChange('suspended')}
        >
          <p>{text('suspendEffect')}</p>
        </Confirmation>
      ) : null}
      {app.status === 'active' || app.lock !== null ? null : (
        <Button onPress={() => onChange('active')} isBusy={isBlocked}>
          {text('activate')}
        </Button>
      )}
      {app.status === 'revoked' ? null : (
        <Confirmation
          trigger={text('revoke')}
          title={text('revokeTitle', { app: app.name })}
          confirm={text('revokeConfirm')}
          isBusy={beingSet === 'revoked'}
          isBlocked={isBlocked}
          onConfirm={() => onChange('revoked')}
        >
          <p>{text('revokeEffect')}</p>
        </Confirmation>
      )}
    </>
  );
}
