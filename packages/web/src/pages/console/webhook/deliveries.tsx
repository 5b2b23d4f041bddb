import { WEBHOOK_STATES, type WebhookState } from '@phds/catalog/webhooks';
import { useState } from 'react';
import { useDeliveries } from '../../../api/webhooks.ts';
import { Button } from '../../../ui/button.tsx';
import { Card, Fields, Row } from '../../../ui/card.tsx';
import { Select } from '../../../ui/field.tsx';
import { useFilteredPage } from '../../../ui/filtered-page.ts';
import { Empty } from '../../../ui/notice.tsx';
import { Resource } from '../../../ui/resource.tsx';
import { Pages } from '../../../ui/table.tsx';
import { DeliveryEntry } from './delivery-entry.tsx';
import { STATE_TEXTS } from './state-tag.tsx';
import { text } from './texts.ts';

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
      <Resource query={deliveries}>
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
