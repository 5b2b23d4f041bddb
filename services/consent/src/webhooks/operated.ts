import { type Listed, offsetOf, type Page, toPage } from '@phds/catalog/pagination';
import { HOST_EVENTS, type WebhookState } from '@phds/catalog/webhooks';
import {
  type OperatedWebhook,
  OperatedWebhookSchema,
  type Webhook,
  WebhookOperatorService,
} from '@phds/contracts/phds/consent/v1/webhooks_pb';
import { queryCount, queryRows, readStatement, runStatement } from '@phds/service-kit/postgres/sql';
import { type Row, toMessage } from '@phds/service-kit/rpc/messages';
import { implement } from '@phds/service-kit/rpc/service';
import { OPERATORS, VIEWERS } from '@phds/service-kit/trust/callers';
import type pg from 'pg';
import { parseMoment, parseName } from '../parameters.ts';
import { refuseMissing } from './endpoints.ts';
import type { HostWebhook } from './host-webhooks.ts';

/** Events that one statement makes due. */
const AT_ONCE = 1_000;

const LIST = readStatement(new URL('../store/sql/list-webhooks.sql', import.meta.url));
const COUNT = readStatement(new URL('../store/sql/count-webhooks.sql', import.meta.url));
const PAUSE = readStatement(new URL('../store/sql/pause-webhook.sql', import.meta.url));
const FIND_EVENTS = readStatement(new URL('../store/sql/find-webhook-events.sql', import.meta.url));
const REDELIVER = readStatement(new URL('../store/sql/redeliver-events.sql', import.meta.url));
const DELETE_OTHER_HOSTS = readStatement(new URL('../store/sql/delete-host-endpoints.sql', import.meta.url));
const PUT_HOSTS = readStatement(new URL('../store/sql/put-host-endpoints.sql', import.meta.url));

/**
 * phds.consent.v1.WebhookOperatorService: the endpoints of all apps, by client id, and those of the deployment, by id. Throws `not_found`
 * without an endpoint.
 */
export function createWebhookOperatorService(pool: pg.Pool) {
  return implement(
    WebhookOperatorService,
    {
      async listWebhooks({ page }) {
        const { items, total } = await listWebhooks(pool, toPage(page));
        return { webhooks: items.map((item) => toMessage(OperatedWebhookSchema, item)), total };
      },
      async setWebhookPaused({ clientId, paused }) {
        const found = await runStatement(pool, PAUSE, parseName('clientId', clientId), paused);
        if (found === 0) refuseMissing();
        return {};
      },
      async redeliverEvents({ clientId, since, deliveredToo }) {
        const states = deliveredToo ? (['failed', 'delivered'] as const) : (['failed'] as const);
        const from = parseMoment('since', since);
        return { events: await redeliverSince(pool, parseName('clientId', clientId), from, states) };
      },
    },
    { listWebhooks: VIEWERS, setWebhookPaused: OPERATORS, redeliverEvents: OPERATORS },
  );
}

/** Those in trouble first. */
export async function listWebhooks(pool: pg.Pool, page: Page): Promise<Listed<Row<OperatedWebhook>>> {
  const [rows, total] = await Promise.all([
    queryRows<Row<Webhook> & Row<OperatedWebhook>>(pool, LIST, page.pageSize, offsetOf(page)),
    queryCount(pool, COUNT),
  ]);
  return { items: rows.map((row) => ({ ...row, webhook: row })), total };
}

/** Makes events due that were made since then, in their order. Returns how many. */
async function redeliverSince(
  pool: pg.Pool,
  clientId: string,
  since: Date,
  states: readonly WebhookState[],
): Promise<number> {
  const [endpoint] = await queryRows<{ id: string; last: string }>(pool, FIND_EVENTS, clientId);
  if (endpoint === undefined) return refuseMissing();
  let total = 0;
  for (let made = AT_ONCE; made === AT_ONCE; total += made) {
    made = await runStatement(pool, REDELIVER, endpoint.id, endpoint.last, states, since, AT_ONCE);
  }
  return total;
}

/**
 * Adds and changes the deployment's own endpoints, as this process is configured, enables those that were gone, and removes all others,
 * whose events are not sent any more.
 */
export async function storeHostEndpoints(pool: pg.Pool, configured: readonly HostWebhook[]): Promise<void> {
  const [ids, urls] = [configured.map(({ id }) => id), configured.map(({ url }) => url)];
  await runStatement(pool, DELETE_OTHER_HOSTS, ids);
  await runStatement(pool, PUT_HOSTS, ids, urls, HOST_EVENTS);
}
