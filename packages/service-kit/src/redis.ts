import { Redis, type RedisOptions } from 'ioredis';
import type { Logger } from './log.ts';

type RedisLogger = Pick<Logger, 'info' | 'warn'>;

/** A Redis client that never makes its caller wait for a Redis that is away. */
export interface RedisConnection extends AsyncDisposable {
  /** Commands reject at once while there is no connection, and after `commandTimeoutMs` when no answer comes. */
  readonly client: Redis;
  /** Whether commands have a chance right now. */
  isReady(): boolean;
}

export interface RedisConnectionOptions {
  /** Longest wait for one answer. Milliseconds, default 250. */
  readonly commandTimeoutMs?: number;
}

export interface RedisSubscription {
  readonly channels: readonly string[];
  /** One published message, as the bytes that were published. Must not throw. */
  readonly onMessage: (channel: string, payload: Buffer) => void;
  /** The subscription is in place, at first and after every reconnect: what was published before is lost. */
  readonly onSubscribed?: () => void;
}

const DEFAULT_COMMAND_TIMEOUT_MS = 250;
const CONNECT_TIMEOUT_MS = 2_000;
const SUBSCRIBE_TIMEOUT_MS = 2_000;
const FIRST_RETRY_MS = 50;
const LAST_RETRY_MS = 2_000;
const KEEP_ALIVE_MS = 10_000;

/** Opens Redis in the background; it reconnects for as long as it takes. Losing it is logged once per outage. */
export function openRedis(
  url: string,
  log: RedisLogger,
  options: RedisConnectionOptions = {},
): RedisConnection {
  const client = new Redis(url, {
    ...toBaseOptions('phds'),
    commandTimeout: options.commandTimeoutMs ?? DEFAULT_COMMAND_TIMEOUT_MS,
  });
  logOutages(client, log);
  return {
    client,
    isReady: () => client.status === 'ready',
    [Symbol.asyncDispose]: async () => client.disconnect(),
  };
}

/**
 * Listens to channels on a connection of its own, which subscribes again whenever it comes back. Redis keeps nothing
 * for a listener that was away, so whoever must not miss a message acts on `onSubscribed`.
 */
export function subscribeRedis(
  url: string,
  subscription: RedisSubscription,
  log: RedisLogger,
): AsyncDisposable {
  const client = new Redis(url, {
    ...toBaseOptions('phds-subscriber'),
    commandTimeout: SUBSCRIBE_TIMEOUT_MS,
    // Done below, on every connection: the library's own knows only what was subscribed once already.
    autoResubscribe: false,
  });
  logOutages(client, log);
  client.on('ready', () => void subscribe(client, subscription, log));
  client.on('messageBuffer', (channel: Buffer, payload: Buffer) => {
    subscription.onMessage(channel.toString(), payload);
  });
  return { [Symbol.asyncDispose]: async () => client.disconnect() };
}

async function subscribe(client: Redis, subscription: RedisSubscription, log: RedisLogger): Promise<void> {
  try {
    await client.subscribe(...subscription.channels);
    subscription.onSubscribed?.();
  } catch (error) {
    log.warn({ err: error }, 'could not subscribe to Redis; reconnecting');
    if (client.status === 'ready') client.disconnect(true);
  }
}

function toBaseOptions(connectionName: string): Omit<RedisOptions, 'replyMapping'> {
  return {
    connectionName,
    connectTimeout: CONNECT_TIMEOUT_MS,
    keepAlive: KEEP_ALIVE_MS,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    autoResendUnfulfilledCommands: false,
    disableClientInfo: true,
    retryStrategy: (attempt) => Math.min(FIRST_RETRY_MS * 2 ** Math.min(attempt, 10), LAST_RETRY_MS),
  };
}

function logOutages(client: Redis, log: RedisLogger): void {
  let away = false;
  client.on('error', (error: Error) => {
    if (!away) log.warn({ err: error }, 'Redis is away; going on without it');
    away = true;
  });
  client.on('ready', () => {
    if (away) log.info('Redis is back');
    away = false;
  });
}
