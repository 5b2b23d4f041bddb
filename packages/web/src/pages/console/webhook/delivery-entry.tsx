import type { WebhookFailure } from '@phds/catalog/webhooks';
import { isRefusal } from '../../../api/problem.ts';
import { type Delivery, type DeliveryAttempt, useRedelivery } from '../../../api/webhooks.ts';
import { Button } from '../../../ui/button.tsx';
import { Facts, Row, Soft, Stack } from '../../../ui/card.tsx';
import { Code } from '../../../ui/code.tsx';
import { ErrorNotice } from '../../../ui/notice.tsx';
import { type Column, Table } from '../../../ui/table.tsx';
import { PreciseInstant } from '../../../ui/time.tsx';
import { StateTag } from './state-tag.tsx';
import { text } from './texts.ts';
import style from './webhook.module.css';

/** One event: its state, and unfolded the attempts, what is sent, and a button to send it again. */
export function DeliveryEntry({
  clientId,
  delivery,
}: {
  readonly clientId: string;
  readonly delivery: Delivery;
}) {
  const { id, type, grantId, state, createdAt, attempts, nextAttemptAt, body } = delivery;
  return (
    <details className={style['delivery']}>
      <summary>
        <code>{type}</code> <StateTag state={state} />{' '}
        <span className={style['time']}>
          <PreciseInstant at={createdAt} />
        </span>
      </summary>
      <Stack>
        <Facts
          facts={[
            [text('eventId'), <code key="id">{id}</code>],
            [text('grant'), grantId === null ? null : <code key="grant">{grantId}</code>],
            [
              text('nextAttempt'),
              nextAttemptAt === null ? null : <PreciseInstant key="next" at={nextAttemptAt} />,
            ],
          ]}
        />
        {attempts.length === 0 ? (
          <Soft>{text('noAttempts')}</Soft>
        ) : (
          <Table
            caption={text('attemptsOf', { id })}
            columns={toColumns()}
            rows={attempts}
            keyOf={({ at }) => at}
          />
        )}
        <Code label={text('bodyOf', { id })} text={JSON.stringify(body, null, 2)} />
        <Redeliver clientId={clientId} delivery={delivery} />
      </Stack>
    </details>
  );
}

function Redeliver({ clientId, delivery }: { readonly clientId: string; readonly delivery: Delivery }) {
  const redelivery = useRedelivery(clientId);
  const { error } = redelivery;
  return (
    <>
      {error === null ? null : (
        <ErrorNotice
          error={error}
          title={text(isRefusal(error) ? 'redeliveryRefused' : 'redeliveryUnknown')}
        />
      )}
      <Row>
        <Button isBusy={redelivery.isPending} onPress={() => redelivery.mutate(delivery.id)}>
          {text(delivery.state === 'pending' ? 'sendNow' : 'sendAgain')}
        </Button>
        <span role="status">
          {redelivery.isSuccess && delivery.state === 'pending' ? text('willBeSent') : ''}
        </span>
      </Row>
    </>
  );
}

const FAILURES = {
  status: 'failureStatus',
  redirected: 'failureRedirected',
  timed_out: 'failureTimedOut',
  name_not_resolved: 'failureName',
  address_not_allowed: 'failureAddress',
  tls_failed: 'failureTls',
  connection_failed: 'failureConnection',
  grant_ended: 'failureGrantEnded',
} as const satisfies Record<WebhookFailure, string>;

function toColumns(): readonly Column<DeliveryAttempt>[] {
  return [
    { title: text('attemptAt'), cell: ({ at }) => <PreciseInstant at={at} /> },
    { title: text('result'), cell: (attempt) => <Result attempt={attempt} /> },
    { title: text('duration'), cell: ({ ms }) => text('milliseconds', { ms }), isNumber: true },
  ];
}

function Result({ attempt: { status, failure } }: { readonly attempt: DeliveryAttempt }) {
  if (failure === null) return <>{text('accepted', { status: status ?? 0 })}</>;
  return <>{text(FAILURES[failure], { status: status ?? 0 })}</>;
}
