import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { type OperatedWebhook, WebhookOperatorService } from '@phds/contracts/phds/consent/v1/webhooks_pb';
import { callAsOperator, type OperatorSurroundings, PAGE_SIZE, toInstant } from '../operator/connection.ts';
import { toJson } from './command.ts';

const WEBHOOKS = ['consent', WebhookOperatorService] as const;

/** `phds webhooks list`: prints one page of the endpoints of all apps and of the deployment, those in trouble first. Returns the exit code. */
export async function listWebhooks(
  { page, json }: { readonly page: number; readonly json: boolean },
  surroundings: OperatorSurroundings,
): Promise<number> {
  return callAsOperator(WEBHOOKS, json, surroundings, async (client) => {
    const { webhooks, total } = await client.listWebhooks({ page: { page, pageSize: PAGE_SIZE } });
    const entries = webhooks.map(toEntry);
    const pages = Math.ceil(total / PAGE_SIZE);
    if (json) return toJson({ webhooks: entries, page, pages, total });
    if (total === 0) return 'No webhooks.\n';
    return `${entries.map(toLine).join('')}Page ${page} of ${pages}, ${total} webhooks in total.\n`;
  });
}

/** `phds webhooks pause|resume`. Returns the exit code. */
export async function pauseWebhook(
  {
    clientId,
    isPaused,
    json,
  }: { readonly clientId: string; readonly isPaused: boolean; readonly json: boolean },
  surroundings: OperatorSurroundings,
): Promise<number> {
  return callAsOperator(WEBHOOKS, json, surroundings, async (client) => {
    await (isPaused ? client.pauseWebhook({ clientId }) : client.resumeWebhook({ clientId }));
    if (json) return toJson({ clientId, paused: isPaused });
    return `The webhook of ${clientId} ${isPaused ? 'is paused; its events wait' : 'is not paused'}.\n`;
  });
}

/** `phds webhooks redeliver`. Returns the exit code. */
export async function redeliverEvents(
  {
    clientId,
    since,
    deliveredToo,
    json,
  }: {
    readonly clientId: string;
    readonly since: Date;
    readonly deliveredToo: boolean;
    readonly json: boolean;
  },
  surroundings: OperatorSurroundings,
): Promise<number> {
  return callAsOperator(WEBHOOKS, json, surroundings, async (client) => {
    const { events } = await client.redeliverEvents({
      clientId,
      since: timestampFromDate(since),
      deliveredToo,
    });
    return json ? toJson({ clientId, events }) : `${events} events are delivered again.\n`;
  });
}

function toEntry({ webhook, appName, pending, failed, pausedAt }: OperatedWebhook) {
  const orNull = (text: string) => text || null;
  return {
    clientId: webhook?.clientId ?? '',
    name: appName,
    url: webhook?.url ?? '',
    events: webhook?.events ?? [],
    pending,
    failed,
    failingSince: orNull(toInstant(webhook?.failingSince)),
    disabled: orNull(webhook?.disabledReason ?? ''),
    pausedSince: orNull(toInstant(pausedAt)),
  };
}

function toLine({ clientId, name, url, pending, failed, ...state }: ReturnType<typeof toEntry>): string {
  const trouble = [
    state.disabled === 'gone' ? ['its receiver is gone'] : [],
    state.pausedSince === null ? [] : [`paused since ${state.pausedSince}`],
    state.failingSince === null ? [] : [`failing since ${state.failingSince}`],
  ].flat();
  return `${[clientId, name, url].filter(Boolean).join('  ')}\n  ${[`${pending} pending`, `${failed} failed`, ...trouble].join(', ')}\n`;
}
