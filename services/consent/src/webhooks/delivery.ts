import { lookup } from 'node:dns/promises';
import type { FailureReports } from '@phds/service-kit/background';
import { startPeriodic } from '@phds/service-kit/background';
import type { Clock } from '@phds/service-kit/clock';
import { createPublicClient } from '@phds/service-kit/egress/public-client';
import type { Config } from '../config.ts';
import type { ConsentMetrics } from '../metrics.ts';
import type { ConnectionPools } from '../store/connection-pools.ts';
import type { EndpointParts } from './endpoints.ts';
import { addDueEvents } from './events.ts';
import { isHostId } from './host-webhooks.ts';
import { storeHostEndpoints } from './operated.ts';
import { createWebhookQueue, measurePending } from './queue.ts';
import { createWebhookSecrets, type WebhookSecrets } from './secrets.ts';
import { type EventPoster, WebhookSender } from './sender.ts';

const MEASURE_INTERVAL_MS = 15_000;
/** One turn in so many checks all endpoints, and so finds retries and `data.updated`, which become due some time after they were added. */
const TURNS_UNTIL_ALL = 5;
/** Longer than a transaction that adds an event usually takes. */
const COMMITTED_MS = 1_000;

interface WebhookParts {
  readonly pools: Pick<ConnectionPools, 'ordinary' | 'webhooks'>;
  readonly config: Config;
  readonly clock: Clock;
  readonly failureOf: FailureReports;
  readonly metrics: Pick<ConsentMetrics, 'webhooks'>;
}

/** Adds and delivers events in the background; disposal ends attempts in progress. Returns what endpoints need. */
export function startWebhookDelivery(parts: WebhookParts, resources: AsyncDisposableStack): EndpointParts {
  const { pools, config, failureOf } = parts;
  const {
    EGRESS_ALLOW_LOOPBACK: allowLoopback,
    WEBHOOK_INTERVAL_MS: intervalMs,
    HOST_WEBHOOKS: hosts,
  } = config;
  const secrets = createWebhookSecrets(config.WEBHOOK_KEY, hosts);
  const poster = createPoster(parts);
  let isStored = false;
  const add = async (signal: AbortSignal) => {
    if (!isStored) await storeHostEndpoints(pools.webhooks, hosts);
    isStored = true;
    await addDueEvents(pools.webhooks, signal);
  };
  const onFailure = failureOf('adding the events of ended and ending grants');
  resources.use(startPeriodic(add, { intervalMs, onFailure }));
  if (config.WEBHOOK_CONCURRENCY > 0) startSender(parts, { secrets, poster }, resources);
  return { pool: pools.ordinary, secrets, poster, allowLoopback };
}

function createPoster({ config, failureOf }: WebhookParts): EventPoster {
  const { EGRESS_PROXY: url, EGRESS_ALLOW_LOOPBACK: allowLoopback } = config;
  const onFailure = failureOf('connecting to the proxy of webhooks');
  const proxy = url === undefined ? undefined : { url: new URL(url), onFailure };
  const toApps = createPublicClient({ allowLoopback, proxy });
  const toHosts = createPublicClient({ allowPrivate: true, resolve: resolveBySystem });
  return {
    mayRequest: toApps.mayRequest,
    post: (request, signal) => (isHostId(request.endpointId) ? toHosts : toApps).post(request, signal),
  };
}

function startSender(
  { pools, config, clock, failureOf, metrics }: WebhookParts,
  using: { readonly secrets: WebhookSecrets; readonly poster: EventPoster },
  resources: AsyncDisposableStack,
): void {
  const queue = createWebhookQueue(pools.webhooks);
  const onFailure = failureOf('delivering events');
  const { WEBHOOK_CONCURRENCY: concurrency, WEBHOOK_INTERVAL_MS: intervalMs } = config;
  const { onDelivery, onMeasured } = metrics.webhooks;
  const sender = resources.use(
    new WebhookSender({ ...using, queue, clock, random: Math.random, concurrency, onFailure, onDelivery }),
  );
  let turns = 0;
  const look = () => {
    turns += 1;
    return turns % TURNS_UNTIL_ALL === 0 ? sender.claimDue() : sender.claimNew(2 * intervalMs + COMMITTED_MS);
  };
  resources.use(startPeriodic(look, { intervalMs, onFailure }));
  const measure = async () => onMeasured(await measurePending(pools.ordinary));
  const onMeasureFailure = failureOf('measuring the delivery of events');
  resources.use(startPeriodic(measure, { intervalMs: MEASURE_INTERVAL_MS, onFailure: onMeasureFailure }));
}

/** Unlike DNS alone, this knows the hosts file and the search list, by which a network names its own services. */
async function resolveBySystem(name: string): Promise<string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address);
}
