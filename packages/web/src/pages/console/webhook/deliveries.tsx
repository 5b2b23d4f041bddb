import { WEBHOOK_STATES, type WebhookFailure, type WebhookState } from '@phds/catalog/webhooks';
import { useState } from 'react';
import type { Delivery, DeliveryAttempt } from '../../../api/resources.ts';
import { useDeliveries, useRedelivery } from '../../../api/webhooks.ts';
import { Button } from '../../../ui/button.tsx';
import { Card, Facts, Fields, Row, Soft, Stack, Tag } from '../../../ui/card.tsx';
import { Code } from '../../../ui/code.tsx';
import { Select } from '../../../ui/field.tsx';
import { Empty } from '../../../ui/notice.tsx';
import { Resource } from '../../../ui/resource.tsx';
import { type Column, Pages, Table, useFilteredPage } from '../../../ui/table.tsx';
import { PreciseInstant } from '../../../ui/time.tsx';
import { NotChanged } from '../not-changed.tsx';
import { text } from '../texts.ts';
import style from './webhook.module.css';

const EVERY = '';

/** The events of an endpoint with the log of their delivery. */
export function Deliveries({ clientId }: { readonly clientId: string }) {
  const [state, setState] = useState<WebhookState | typeof EVERY>(EVERY);
  const [page, setPage] = useFilteredPage(state);
  const deliveries = useDeliveries(clientId, state, page);
  return (
    <Card label={text('deliveries')}>
      <Row between>
        <h2>{text('deliveries')}</h2>
        <Button isBusy={deliveries.isFetching} onPress={() => void deliveries.refetch()}>
          {text('refresh')}
        </Button>
      </Row>
      <Fields>
        <Select
          label={text('state')}
          value={state}
          onChange={(id) => setState(WEBHOOK_STATES.find((known) => known === id) ?? EVERY)}
          options={[
            { id: EVERY, text: text('everyState') },
            ...WEBHOOK_STATES.map((id) => ({ id, text: text(STATE_TEXTS[id]) })),
          ]}
        />
      </Fields>
      <Resource query={deliveries} labels={{ state: text('state') }}>
        {({ data, pagination }) =>
          data.length === 0 ? (
            <Empty title={text(state === EVERY ? 'noDeliveries' : 'noSuchDelivery')}>
              {state === EVERY ? <p>{text('noDeliveriesText')}</p> : null}
            </Empty>
          ) : (
            <div>
              {data.map((delivery) => (
                <DeliveryEntry key={delivery.id} clientId={clientId} delivery={delivery} />
              ))}
              <Pages pagination={pagination} onChange={setPage} />
            </div>
          )
        }
      </Resource>
    </Card>
  );
}

/** One event: its state, and unfolded the attempts, what is sent, and a button to send it again. */
function DeliveryEntry({ clientId, delivery }: { readonly clientId: string; readonly delivery: Delivery }) {
  const { id, type, grantId, state, createdAt, attempts, nextAttemptAt, body } = delivery;
  return (
    <details className={style['delivery']}>
      <summary>
        <code>{type}</code> <StateTag state={state} />{' '}
        <small>
          <PreciseInstant at={createdAt} />
        </small>
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
            columns={COLUMNS}
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
  return (
    <>
      <NotChanged error={redelivery.error} undone="redeliveryRefused" unknown="redeliveryUnknown" />
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

const COLUMNS: readonly Column<DeliveryAttempt>[] = [
  { title: text('attemptAt'), cell: ({ at }) => <PreciseInstant at={at} /> },
  {
    title: text('result'),
    cell: ({ status, failure }) =>
      text(failure === null ? 'accepted' : FAILURES[failure], { status: status ?? 0 }),
  },
  { title: text('duration'), cell: ({ ms }) => text('milliseconds', { ms }), isNumber: true },
];

const STATE_TEXTS = {
  pending: 'statePending',
  delivered: 'stateDelivered',
  failed: 'stateFailed',
} as const satisfies Record<WebhookState, string>;

const TONES = { pending: 'warn', delivered: 'good', failed: 'bad' } as const;

function StateTag({ state }: { readonly state: WebhookState }) {
  return <Tag tone={TONES[state]}>{text(STATE_TEXTS[state])}</Tag>;
}
