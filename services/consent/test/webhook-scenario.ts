import type { Delivery } from '@phds/contracts/phds/consent/v1/webhooks_pb';
import type { WebhookReceiver } from '@phds/test-kit/webhook-receiver';
import {
  approve,
  GLUCOSE,
  HEART,
  MOOD,
  type RegisteredApp,
  type RunningService,
  registerApp,
  startConsent,
} from './running-service.ts';
import { openWebhookHarness, type WebhookHarness } from './webhook-harness.ts';

/** An app with a receiver, and the events that it receives. */
export interface WebhookScenario {
  readonly app: RegisteredApp;
  readonly receiver: WebhookReceiver;
  /** Makes a grant with three events, see THREE; returns its id. */
  causeThree(userId: string): Promise<string>;
  /** The log, newest first. */
  deliveries(state?: string): Promise<Delivery[]>;
}

/** The types of the events of causeThree, in order: narrowed twice, then revoked. */
export const THREE = ['grant.narrowed', 'grant.narrowed', 'grant.revoked'];

/** A service that searches and sends nothing by itself. */
export async function startWithWebhooks() {
  const consent = await startConsent({ settings: { WEBHOOK_INTERVAL_MS: '86400000' } });
  return { consent, harness: await openWebhookHarness(consent) };
}

/** The only endpoint, so that no other test's events are claimed. */
export async function setUpWebhook(
  consent: RunningService,
  harness: WebhookHarness,
): Promise<WebhookScenario> {
  await consent.owner.query('DELETE FROM webhook_endpoint');
  const app = await registerApp(consent);
  return {
    app,
    receiver: await harness.receive(app),
    async causeThree(userId) {
      const session = await consent.session(userId);
      const { grantId: id } = await approve(consent, app, userId, { requested: [HEART, GLUCOSE, MOOD] });
      await consent.asGateway.narrowGrant({ id, scopes: [HEART, GLUCOSE], setScopes: true }, session);
      await consent.asGateway.narrowGrant({ id, scopes: [HEART], setScopes: true }, session);
      await consent.asGateway.revokeGrant({ id }, session);
      return id;
    },
    async deliveries(state = '') {
      const session = await consent.session(app.ownerId);
      const answer = await harness.webhooks.listDeliveries({ clientId: app.clientId, state }, session);
      return answer.deliveries;
    },
  };
}

/** The types of the events about a grant. */
export function typesOf(events: WebhookReceiver['events'], grantId: string): string[] {
  return events.filter(({ data }) => data.grantId === grantId).map(({ type }) => type);
}
