import type { UseMutationResult } from '@tanstack/react-query';
import { useState } from 'react';
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
import { Card, Row, Soft, Stack } from '../../../ui/card.tsx';
import { ChangeNotice } from '../../../ui/change-notice.tsx';
import { Confirmation } from '../../../ui/confirmation.tsx';
import { Select } from '../../../ui/field.tsx';
import { focusHeading } from '../../../ui/focus.ts';
import { ErrorNotice } from '../../../ui/notice.tsx';
import { formatInstant } from '../../../ui/time.tsx';
import { NotChanged } from '../not-changed.tsx';
import { ShownOnce, Unseen } from '../secret-once.tsx';
import { text } from '../texts.ts';
import { EndpointForm } from './endpoint-form.tsx';

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
          <NotChanged failure={removal.failure} />
          <Row>
            <Button
              isBusy={test.isPending}
              onPress={() => {
                if (!test.isPending) test.mutate(undefined);
              }}
            >
              {text('sendTest')}
            </Button>
            <Rotation
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

const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;

/** For how long a replaced secret signs as well. The service allows seven days at most. */
const OVERLAPS = [
  { seconds: 0, id: 'overlapNone' },
  { seconds: HOUR_S, id: 'overlapHour' },
  { seconds: DAY_S, id: 'overlapDay' },
  { seconds: 3 * DAY_S, id: 'overlapDays' },
  { seconds: 7 * DAY_S, id: 'overlapWeek' },
] as const;

/** The button that replaces the secret, and the dialog that asks for how long the old one signs as well. */
function Rotation({
  isBusy,
  isBlocked,
  onRotate,
}: {
  readonly isBusy: boolean;
  readonly isBlocked: boolean;
  readonly onRotate: (overlapSeconds: number) => void;
}) {
  const [seconds, setSeconds] = useState(0);
  return (
    <Confirmation
      trigger={text('hookRotate')}
      triggerKind="plain"
      title={text('hookRotateTitle')}
      confirm={text('rotateConfirm')}
      isBusy={isBusy}
      isBlocked={isBlocked}
      onConfirm={() => onRotate(seconds)}
    >
      <Select
        label={text('overlap')}
        value={String(seconds)}
        onChange={(value) => setSeconds(Number(value))}
        options={OVERLAPS.map((overlap) => ({ id: String(overlap.seconds), text: text(overlap.id) }))}
      />
      <p>{text(seconds === 0 ? 'hookRotateEffect' : 'rotateEffectLater')}</p>
    </Confirmation>
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
  if (secret !== undefined) {
    return (
      <ShownOnce
        label={text('signingSecret')}
        title={text('copyNow')}
        advice={text('hookSecretAdvice')}
        values={[{ name: text('signingSecret'), value: secret, copy: text('copy') }]}
      />
    );
  }
  if (rotation.data === null || rotation.failure?.outcome === 'made') {
    return <Unseen title={text('hookRotatedUnseen')} advice={text('unseenAdvice')} />;
  }
  if (change.data === null || change.failure?.outcome === 'made') {
    return <Unseen title={text('savedUnseen')} advice={text('unseenAdvice')} />;
  }
  return (
    <ChangeNotice
      failure={rotation.failure}
      undone={text('hookNotRotated')}
      unknown={text('hookRotationUnknown')}
      advice={text('hookRotationAdvice')}
    />
  );
}
