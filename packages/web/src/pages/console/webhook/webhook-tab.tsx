import type { DeveloperApp, Webhook } from '../../../api/resources.ts';
import { useWebhook } from '../../../api/webhooks.ts';
import { Soft, Stack } from '../../../ui/card.tsx';
import { Notice } from '../../../ui/notice.tsx';
import { Resource } from '../../../ui/resource.tsx';
import { formatInstant } from '../../../ui/time.tsx';
import { text } from '../texts.ts';
import { Deliveries } from './deliveries.tsx';
import { Endpoint } from './endpoint.tsx';

/** Where an app receives events, and what became of them. */
export function WebhookTab({ app: { clientId } }: { readonly app: DeveloperApp }) {
  const webhook = useWebhook(clientId);
  return (
    <Resource query={webhook}>
      {(found) => (
        <Stack>
          <Soft>{text('hookLead')}</Soft>
          {found === null ? null : <Trouble webhook={found} />}
          <Endpoint clientId={clientId} webhook={found} />
          {found === null ? null : <Deliveries clientId={clientId} />}
        </Stack>
      )}
    </Resource>
  );
}

/** Says that the receiver does not accept events; renders nothing when it does. */
function Trouble({ webhook: { disabledReason, failingSince } }: { readonly webhook: Webhook }) {
  if (disabledReason !== null) {
    return (
      <Notice tone="bad" title={text(disabledReason === 'paused' ? 'paused' : 'disabled')}>
        {text(disabledReason === 'paused' ? 'disabledPaused' : 'disabledGone')}
      </Notice>
    );
  }
  if (failingSince === null) return null;
  return (
    <Notice tone="warn" title={text('failing', { since: formatInstant(failingSince) })}>
      {text('failingAdvice')}
    </Notice>
  );
}
