import { useState } from 'react';
import { serviceNow } from '../../../api/client.ts';
import type { Webhook } from '../../../api/resources.ts';
import {
  useTestEvent,
  useWebhookChange,
  useWebhookRemoval,
  useWebhookRotation,
  type WebhookWithSecret,
} from '../../../api/webhooks.ts';
import { Button } from '../../../ui/button.tsx';
import { Card, Row, Soft, Stack } from '../../../ui/card.tsx';
import { Confirmation } from '../../../ui/confirmation.tsx';
import { Select } from '../../../ui/field.tsx';
import { focusHeading } from '../../../ui/focus.ts';
import { formatInstant } from '../../../ui/time.tsx';
import { NotChanged } from '../not-changed.tsx';
import { ShownOnce } from '../secret-once.tsx';
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
  // Only some answers have one. It stays until it is replaced or removed.
  const [secret, setSecret] = useState<string>();
  const keepSecret = ({ secret: made }: WebhookWithSecret) => setSecret((shown) => made ?? shown);
  const all = [change, rotation, removal];
  const isBusy = all.some(({ isPending }) => isPending);
  const forget = () => {
    for (const each of all) each.reset();
  };
  return (
    <Stack>
      <NotChanged error={rotation.error} undone="hookNotRotated" unknown="hookRotationUnknown" />
      <NotChanged error={removal.error} />
      {secret === undefined ? null : (
        <ShownOnce
          label={text('signingSecret')}
          title={text('copyNow')}
          advice={text('hookSecretAdvice')}
          values={[{ name: text('signingSecret'), value: secret, copy: text('copy') }]}
        />
      )}
      <EndpointForm
        webhook={webhook}
        isPending={isBusy}
        isSaved={change.isSuccess && webhook !== null}
        error={change.error}
        onSubmit={(settings) => {
          if (isBusy) return;
          forget();
          change.mutate(settings, { onSuccess: keepSecret });
        }}
      />
      {webhook === null ? null : (
        <Actions
          clientId={clientId}
          webhook={webhook}
          isBusy={isBusy}
          onRotate={(seconds) => {
            forget();
            setSecret(undefined);
            rotation.mutate(seconds, { onSuccess: keepSecret });
          }}
          onRemove={() => {
            forget();
            setSecret(undefined);
            // Removes the button that was pressed.
            removal.mutate(undefined, { onSuccess: focusHeading });
          }}
        />
      )}
    </Stack>
  );
}

function Actions({
  clientId,
  webhook,
  isBusy,
  onRotate,
  onRemove,
}: {
  readonly clientId: string;
  readonly webhook: Webhook;
  readonly isBusy: boolean;
  readonly onRotate: (overlapSeconds: number) => void;
  readonly onRemove: () => void;
}) {
  const test = useTestEvent(clientId);
  return (
    <Card label={text('actions')}>
      <h2>{text('actions')}</h2>
      <Soft>{text('testText')}</Soft>
      <SecretState webhook={webhook} />
      <NotChanged error={test.error} undone="testRefused" unknown="testUnknown" />
      <p role="status">{test.isSuccess ? text('testSent') : ''}</p>
      <Row>
        <Button isBusy={test.isPending} onPress={() => test.mutate()}>
          {text('sendTest')}
        </Button>
        <Rotation isBusy={isBusy} onRotate={onRotate} />
        <Confirmation
          trigger={text('remove')}
          title={text('removeTitle')}
          confirm={text('removeConfirm')}
          isBusy={isBusy}
          onConfirm={onRemove}
        >
          <p>{text('removeEffect')}</p>
        </Confirmation>
      </Row>
    </Card>
  );
}

const DAY_S = 86_400;

/** For how long a replaced secret signs as well. The service allows seven days at most. */
const OVERLAPS = [
  { seconds: 0, id: 'overlapNone' },
  { seconds: DAY_S, id: 'overlapDay' },
  { seconds: 7 * DAY_S, id: 'overlapWeek' },
] as const;

/** The button that replaces the secret, and the dialog that asks for how long the old one signs as well. */
function Rotation({
  isBusy,
  onRotate,
}: {
  readonly isBusy: boolean;
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
