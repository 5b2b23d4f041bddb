import type { UseMutationResult } from '@tanstack/react-query';
import { serviceNow } from '../../../api/client.ts';
import { isRefusal } from '../../../api/problem.ts';
import type { Webhook } from '../../../api/resources.ts';
import {
  useTestEvent,
  useWebhookChange,
  useWebhookRemoval,
  useWebhookRotation,
} from '../../../api/webhooks.ts';
import { Button } from '../../../ui/button.tsx';
import { Card, Facts, Row, Soft, Stack } from '../../../ui/card.tsx';
import { ChangeNotice } from '../../../ui/change-notice.tsx';
import { CopyButton } from '../../../ui/code.tsx';
import { Confirmation } from '../../../ui/confirmation.tsx';
import { focusHeading, useFocusOnAppearance } from '../../../ui/focus.ts';
import { ErrorNotice, Notice } from '../../../ui/notice.tsx';
import { formatInstant } from '../../../ui/time.tsx';
import { RotationConfirmation } from '../rotation-confirmation.tsx';
import { EndpointForm } from './endpoint-form.tsx';
import { text } from './texts.ts';

/** Sets up the endpoint, changes it, sends a test, rotates the secret and removes the endpoint. */
export function Endpoint({
  clientId,
  webhook,
}: {
  readonly clientId: string;
  readonly webhook: Webhook | null;
}) {
  const change = useWebhookChange(clientId);
  const rotation = useWebhookRotation(clientId);
  const removal = useWebhookRemoval(clientId);
  const test = useTestEvent(clientId);
  const isBusy = change.isPending || rotation.isPending || removal.isPending;
  const forget = () => {
    for (const each of [change, rotation, removal, test]) each.reset();
  };
  return (
    <Stack>
      <NewSecret change={change} rotation={rotation} />
      <EndpointForm
        webhook={webhook}
        isPending={change.isPending}
        isSaved={change.isSuccess && webhook !== null}
        failure={change.failure}
        onSubmit={(settings) => {
          if (isBusy) return;
          forget();
          change.mutate(settings);
        }}
      />
      {webhook === null ? null : (
        <Card label={text('actions')}>
          <h2>{text('actions')}</h2>
          <Soft>{text('testText')}</Soft>
          <SecretState webhook={webhook} />
          <TestResult test={test} />
          <ChangeNotice
            failure={removal.failure}
            undone={text('notRemoved')}
            unknown={text('removalUnknown')}
            advice={text('removalAdvice')}
          />
          <Row>
            <Button
              isBusy={test.isPending}
              onPress={() => {
                if (!test.isPending) test.mutate(undefined);
              }}
            >
              {text('sendTest')}
            </Button>
            <RotationConfirmation
              text={text}
              isBusy={rotation.isPending}
              isBlocked={isBusy}
              onRotate={(seconds) => {
                forget();
                rotation.mutate(seconds);
              }}
            />
            <Confirmation
              trigger={text('remove')}
              title={text('removeTitle')}
              confirm={text('removeConfirm')}
              isBusy={removal.isPending}
              isBlocked={isBusy}
              onConfirm={() => {
                forget();
                // Removes the button that was pressed.
                removal.mutate(undefined, { onSuccess: focusHeading });
              }}
            >
              <p>{text('removeEffect')}</p>
            </Confirmation>
          </Row>
        </Card>
      )}
    </Stack>
  );
}

function SecretState({ webhook: { previousSecretExpiresAt: until } }: { readonly webhook: Webhook }) {
  if (until === null || Date.parse(until) <= serviceNow()) return null;
  return <Soft>{text('bothSign', { until: formatInstant(until) })}</Soft>;
}

function TestResult({ test }: { readonly test: UseMutationResult<unknown, Error, undefined> }) {
  if (test.error !== null) {
    return (
      <ErrorNotice error={test.error} title={text(isRefusal(test.error) ? 'testRefused' : 'testUnknown')} />
    );
  }
  return <p role="status">{test.isSuccess ? text('testSent') : ''}</p>;
}

/** The secret of a new endpoint or of a rotation, or what became of it when the answer was lost. */
function NewSecret({
  change,
  rotation,
}: {
  readonly change: ReturnType<typeof useWebhookChange>;
  readonly rotation: ReturnType<typeof useWebhookRotation>;
}) {
  const secret = rotation.data?.secret ?? change.data?.secret;
  if (secret !== undefined) return <SecretOnce secret={secret} />;
  if (rotation.data === null || rotation.failure?.outcome === 'made') {
    return <Unseen title={text('rotatedUnseen')} />;
  }
  if (change.data === null || change.failure?.outcome === 'made') {
    return <Unseen title={text('savedUnseen')} />;
  }
  return (
    <ChangeNotice
      failure={rotation.failure}
      undone={text('notRotated')}
      unknown={text('rotationUnknown')}
      advice={text('rotationAdvice')}
    />
  );
}

/** A new secret, kept only in this page's memory. */
function SecretOnce({ secret }: { readonly secret: string }) {
  const appeared = useFocusOnAppearance();
  return (
    <Card label={text('secret')}>
      <Notice tone="warn">
        <strong ref={appeared} tabIndex={-1}>
          {text('copyNow')}
        </strong>
        <span>{text('secretAdvice')}</span>
      </Notice>
      <Facts facts={[[text('secret'), <code key="secret">{secret}</code>]]} />
      <Row>
        <CopyButton value={secret}>{text('copy')}</CopyButton>
      </Row>
    </Card>
  );
}

function Unseen({ title }: { readonly title: string }) {
  return (
    <div role="alert">
      <Notice tone="warn">
        <strong>{title}</strong>
        <span>{text('unseenAdvice')}</span>
      </Notice>
    </div>
  );
}
