import { useSettingsChange, useStatusChange } from '../../api/developer-apps.ts';
import type { AppStatus, DeveloperApp } from '../../api/resources.ts';
import { Button } from '../../ui/button.tsx';
import { Card, Row, Soft } from '../../ui/card.tsx';
import { Confirmation } from '../../ui/confirmation.tsx';
import { focusHeading } from '../../ui/focus.ts';
import { Instant } from '../../ui/time.tsx';
import { AppForm } from './app-form.tsx';
import { NotChanged } from './not-changed.tsx';
import { Rich, text } from './texts.ts';

/** What people see of an app and what it can request; last, how it is suspended and revoked. */
export function Settings({ app }: { readonly app: DeveloperApp }) {
  const change = useSettingsChange(app.clientId);
  return (
    <>
      <AppForm
        app={app}
        submit={text('save')}
        onSubmit={(_, edited, onSuccess) => change.mutate(edited, { onSuccess })}
        isPending={change.isPending}
        isSaved={change.isSuccess}
        error={change.error}
      />
      <Status app={app} />
    </>
  );
}

/** Suspends, activates and revokes; what takes something away asks for confirmation with its consequences. */
function Status({ app }: { readonly app: DeveloperApp }) {
  const status = useStatusChange(app.clientId);
  // Each change removes the button that was pressed.
  const set = (to: AppStatus) => status.mutate(to, { onSuccess: focusHeading });
  return (
    <Card label={text('status')}>
      <h2>{text('status')}</h2>
      <Soft>
        <Rich
          id="registeredAndChanged"
          values={{ registered: <Instant at={app.createdAt} />, changed: <Instant at={app.updatedAt} /> }}
        />
      </Soft>
      <NotChanged error={status.error} />
      <Row>
        {app.status === 'active' ? (
          <Confirmation
            trigger={text('suspend')}
            triggerKind="plain"
            title={text('suspendTitle', { app: app.name })}
            confirm={text('suspend')}
            isBusy={status.isPending}
            onConfirm={() => set('suspended')}
          >
            <p>{text('suspendEffect')}</p>
          </Confirmation>
        ) : null}
        {app.status === 'active' || app.lock !== null ? null : (
          <Button onPress={() => set('active')} isBusy={status.isPending}>
            {text('activate')}
          </Button>
        )}
        {app.status === 'revoked' ? null : (
          <Confirmation
            trigger={text('revoke')}
            title={text('revokeTitle', { app: app.name })}
            confirm={text('revokeConfirm')}
            isBusy={status.isPending}
            onConfirm={() => set('revoked')}
          >
            <p>{text('revokeEffect')}</p>
          </Confirmation>
        )}
      </Row>
    </Card>
  );
}
