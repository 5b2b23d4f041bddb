import { lookup } from 'node:dns/promises';
import type { FailureReports } from '@phds/service-kit/background-failures';
import type { Clock } from '@phds/service-kit/clock';
import { createPublicClient } from '@phds/service-kit/egress/public-client';
import type { Logger } from '@phds/service-kit/telemetry/log';
import type { Config } from '../config.ts';
import type { ConsentMetrics } from '../metrics.ts';
import { startWebhooks } from './app/background.ts';
import {
  createDataChanges,
  type DataChangeStore,
  type EventPoster,
  type HostEndpoints,
  type PendingEvents,
  type WebhookCauseStore,
  type WebhookEndpointStore,
  type WebhookQueue,
} from './app/ports.ts';
import { createWebhooks } from './app/webhooks.ts';
import { createWebhookSecrets } from './clients/secrets.ts';
import { isHostId } from './host-webhooks.ts';

const SAID_EVERY_MS = 60_000;

export interface WebhookParts {
  readonly stores: {
    readonly hostEndpoints: HostEndpoints;
    readonly webhookQueue: WebhookQueue;
    readonly webhookCauses: WebhookCauseStore;
    readonly webhookEndpoints: WebhookEndpointStore;
    readonly dataChanges: DataChangeStore;
  };
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly failureOf: FailureReports;
  readonly metrics: Pick<ConsentMetrics, 'webhooks'>;
}

/** Delivers events in the background. Returns what developers and health-data use. */
export function startWebhookDelivery(
  { stores, config, clock, log, failureOf, metrics }: WebhookParts,
  resources: AsyncDisposableStack,
) {
  const allowLoopback = config.WEBHOOK_ALLOW_LOOPBACK;
  const secrets = createWebhookSecrets(config.WEBHOOK_KEY, config.HOST_WEBHOOKS);
  const times = { delayMs: config.WEBHOOK_DATA_DELAY_MS, spacingMs: config.WEBHOOK_DATA_SPACING_MS };
  const { WEBHOOK_PROXY: url } = config;
  const onFailure = failureOf('connecting to the proxy of webhooks');
  const proxy = url === undefined ? undefined : { url: new URL(url), onFailure };
  const toApps = createPublicClient({ allowLoopback, proxy });
  const toHosts = createPublicClient({ allowPrivate: true, resolve: resolveBySystem });
  const poster: EventPoster = {
    mayRequest: toApps.mayRequest,
    post: (request, signal) => (isHostId(request.endpointId) ? toHosts : toApps).post(request, signal),
  };
  const say = sayingPending(log);
  resources.use(
    startWebhooks({
      hosts: stores.hostEndpoints,
      queue: stores.webhookQueue,
      causes: stores.webhookCauses,
      poster,
      secrets,
      clock,
      concurrency: config.WEBHOOK_CONCURRENCY,
      intervalMs: config.WEBHOOK_INTERVAL_MS,
      failureOf,
      onMeasured: (pending) => {
        metrics.webhooks.onMeasured(pending);
        say(pending);
      },
      onDelivery: metrics.webhooks.onDelivery,
    }),
  );
  return {
    webhooks: createWebhooks({ endpoints: stores.webhookEndpoints, secrets, poster, allowLoopback }),
    changes: createDataChanges({ changes: stores.dataChanges, times }),
  };
}

/** Unlike DNS alone, this knows the hosts file and the search list, by which a network names its own services. */
async function resolveBySystem(name: string): Promise<string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address);
}

/** Logs once a minute how many events are pending, if any. */
function sayingPending(log: Pick<Logger, 'info'>): (pending: PendingEvents) => void {
  let saidAt = Number.NEGATIVE_INFINITY;
  return (pending) => {
    if (pending.pending === 0 || performance.now() - saidAt < SAID_EVERY_MS) return;
    saidAt = performance.now();
    log.info(pending, 'events are waiting for delivery');
  };
}
