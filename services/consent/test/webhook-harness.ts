import { WEBHOOK_EVENTS } from '@phds/catalog/webhooks';
import { EventService } from '@phds/contracts/phds/consent/v1/events_pb';
import { WebhookOperatorService, WebhookService } from '@phds/contracts/phds/consent/v1/webhooks_pb';
import { systemClock } from '@phds/service-kit/clock';
import { createPublicClient } from '@phds/service-kit/egress/public-client';
import { shared } from '@phds/test-kit/shared';
import { WebhookReceiver } from '@phds/test-kit/webhook-receiver';
import { addDueEvents } from '../src/webhooks/events.ts';
import { type ClaimedEvent, createWebhookQueue } from '../src/webhooks/queue.ts';
import { createWebhookSecrets } from '../src/webhooks/secrets.ts';
import { WebhookSender, type WebhookSenderDependencies } from '../src/webhooks/sender.ts';
import { openSmallPools } from './database-clients.ts';
import {
  approve,
  GLUCOSE,
  HEART,
  MOOD,
  type RegisteredApp,
  type RunningService,
  registerApp,
  shareConsent,
  WEBHOOK_KEY,
} from './running-service.ts';

export const ALL_EVENTS = [...WEBHOOK_EVENTS];

/** Webhooks as their developers, health-data and senders use them. Senders are instances of their own, driven by the test. */
async function openWebhookHarness(consent: RunningService) {
  await using resources = new AsyncDisposableStack();
  const pools = resources.use(await openSmallPools(consent.database.url));
  const channel = (caller: 'gateway' | 'health-data' | 'operator:on-call') =>
    resources.use(consent.openChannel(caller));
  const webhooks = channel('gateway').client(WebhookService);
  const operators = channel('operator:on-call').client(WebhookOperatorService);
  const events = channel('health-data').client(EventService);
  const queue = createWebhookQueue(pools.webhooks);
  const secrets = createWebhookSecrets(Buffer.from(WEBHOOK_KEY, 'base64'));
  const poster = createPublicClient({ resolve: async () => [], allowLoopback: true });
  const running = resources.move();
  const failures: unknown[] = [];
  /** Another sender, disposed with the harness. Its failures end the next `deliver`, unless `onFailure` receives them. */
  const addSender = (parts: Partial<WebhookSenderDependencies> = {}) =>
    running.use(
      new WebhookSender({
        queue,
        poster,
        secrets,
        clock: systemClock,
        random: () => 0,
        concurrency: 8,
        onFailure: (error) => failures.push(error),
        ...parts,
      }),
    );
  const sender = addSender();
  /** A receiver that is the endpoint of that app. */
  const receive = async (app: RegisteredApp, events: string[] = ALL_EVENTS) => {
    const receiver = running.use(await WebhookReceiver.start());
    const { clientId, ownerId } = app;
    const endpoint = { clientId, url: receiver.url, events };
    const { secret } = await webhooks.putWebhook(endpoint, await consent.session(ownerId));
    receiver.use(secret);
    return receiver;
  };
  return {
    webhooks,
    operators,
    events,
    queue,
    /** Claims one event. */
    async claimOne() {
      const room = { events: 1, lateEvents: 1, slowEvents: 1, perEndpoint: 1, perShare: 1 };
      const endpoints = await queue.findDue(10);
      const limits = { ...room, endpoints, slow: new Set<string>(), busy: new Map(), leaseMs: 60_000 };
      return (await queue.claim(limits))[0] as ClaimedEvent;
    },
    poster,
    addSender,
    /** Adds the events of ended grants and delivers until nothing is due. */
    async deliver() {
      await addDueEvents(pools.webhooks, new AbortController().signal);
      await sender.claimDue();
      await sender.idle();
      if (failures.length > 0) throw failures[0];
    },
    receive,
    /** The only endpoint, so that no other test's events are claimed. */
    async setUp() {
      await consent.owner.query('DELETE FROM webhook_endpoint');
      const app = await registerApp(consent);
      return {
        app,
        receiver: await receive(app),
        /** Makes a grant with three events, see THREE; returns its id. */
        async causeThree(userId: string) {
          const person = consent.as(userId);
          const requested = [HEART, GLUCOSE, MOOD];
          const { grantId: id } = await approve(consent, app, userId, { requested });
          await person.narrowGrant({ id, scopes: [HEART, GLUCOSE], setScopes: true });
          await person.narrowGrant({ id, scopes: [HEART], setScopes: true });
          await person.revokeGrant({ id });
          return id;
        },
        /** The log, newest first. */
        async deliveries(state = '') {
          const session = await consent.session(app.ownerId);
          return (await webhooks.listDeliveries({ clientId: app.clientId, state }, session)).deliveries;
        },
      };
    },
    /** Lets time pass for events and endpoints: the database's clock cannot be set. */
    async letTimePass(milliseconds: number) {
      const interval = `${milliseconds} milliseconds`;
      await consent.owner.query(
        `UPDATE webhook_event SET started_at = started_at - $1::interval,
           next_attempt_at = next_attempt_at - $1::interval`,
        [interval],
      );
      await consent.owner.query(
        `UPDATE webhook_endpoint SET failing_since = failing_since - $1::interval, retry_at = retry_at - $1::interval,
           previous_secret_until = previous_secret_until - $1::interval`,
        [interval],
      );
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** Lets a grant expire so many seconds ago. */
export async function letExpire(
  { owner }: Pick<RunningService, 'owner'>,
  grantId: string,
  secondsAgo: number,
): Promise<void> {
  await owner.query('UPDATE consent_grant SET expires_at = now() - make_interval(secs => $2) WHERE id = $1', [
    grantId,
    secondsAgo,
  ]);
  // As if the search had not run since.
  await owner.query(
    `UPDATE webhook_scan SET place_at = now() - interval '1 day', place_id = '' WHERE days_left = 0`,
  );
}

/** The types of the events of causeThree, in order: narrowed twice, then revoked. */
export const THREE = ['grant.narrowed', 'grant.narrowed', 'grant.revoked'];

/** For all tests of the file: a service that searches and sends nothing by itself. */
export async function shareWebhooks(settings: Record<string, string> = {}) {
  const consent = await shareConsent({ settings, constants: { WEBHOOK_INTERVAL_MS: 86_400_000 } });
  return { consent, harness: shared.use(await openWebhookHarness(consent)) };
}

/** The types of the events about a grant. */
export function typesOf(events: WebhookReceiver['events'], grantId: string): string[] {
  return events.filter(({ data }) => data.grantId === grantId).map(({ type }) => type);
}
