import { Link } from 'wouter';
import { useApp } from '../../../api/developer-apps.ts';
import type { Webhook } from '../../../api/resources.ts';
import { useWebhook } from '../../../api/webhooks.ts';
import { Stack } from '../../../ui/card.tsx';
import { PageHeading } from '../../../ui/layout.tsx';
import { Notice } from '../../../ui/notice.tsx';
import { Resource } from '../../../ui/resource.tsx';
import { formatInstant } from '../../../ui/time.tsx';
import { NoApp } from '../no-app.tsx';
import { Deliveries } from './deliveries.tsx';
import { Endpoint } from './endpoint.tsx';
import { Rich, text } from './texts.ts';

/** Where an app receives events, and what became of them. */
export function WebhookPage({ clientId }: { readonly clientId: string }) {
  const app = useApp(clientId);
  const webhook = useWebhook(clientId);
  return (
    <Resource query={app} notFound={<NoApp />}>
      {({ name }) => (
        <>
          <PageHeading
            title={text('title')}
            lead={
              <Rich
                id="lead"
                values={{ app: name }}
                components={{ link: <Link href={`/console/${clientId}`} /> }}
              />
            }
          />
          <Resource query={webhook}>
            {(found) => (
              <Stack>
                {found === null ? null : <Trouble webhook={found} />}
                <Endpoint clientId={clientId} webhook={found} />
                {found === null ? null : <Deliveries clientId={clientId} />}
              </Stack>
            )}
          </Resource>
        </>
      )}
    </Resource>
  );
}

/** Says that the receiver does not accept events; renders nothing when it does. */
function Trouble({ webhook: { disabledReason, failingSince } }: { readonly webhook: Webhook }) {
  if (disabledReason !== null) {
    return (
      <Notice tone="bad">
        <strong>{text(disabledReason === 'paused' ? 'paused' : 'disabled')}</strong>
        <span>{text(disabledReason === 'paused' ? 'disabledPaused' : 'disabledGone')}</span>
      </Notice>
    );
  }
  if (failingSince === null) return null;
  return (
    <Notice tone="warn">
      <strong>{text('failing', { since: formatInstant(failingSince) })}</strong>
      <span>{text('failingAdvice')}</span>
    </Notice>
  );
}
