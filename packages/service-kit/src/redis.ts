import { Redis, type RedisOptions } from 'ioredis';
import { requirePair } from './rpc/tls.ts';
import type { redisSettings, SettingsOf } from './settings/settings.ts';
import type { Logger } from './telemetry/log.ts';

type RedisLogger = Pick<Logger, 'info' | 'warn'>;

/** A Redis client whose commands fail fast when Redis is unavailable. */
export interface RedisConnection extends AsyncDisposable {
  /** Commands reject immediately without a connection, and after `commandTimeoutMs` without an answer. */
  readonly client: Redis;
  /** Whether there is a connection, so that a command may be sent. */
  isReady(): boolean;
  /** Whether there is a connection, and Redis carries out commands. Only a command that succeeds can end an outage, so nothing waits for this. */
  isUp(): boolean;
  /** Resolves when the first attempt to connect is over. */
  readonly tried: Promise<void>;
}

/** PEM texts for `rediss://`: the authorities of the server, and a certificate of this client. */
export interface RedisTls {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

export interface RedisConnectionOptions {
  /** Ignored unless the URL starts with `rediss://`. Default: the authorities that Node knows, and no certificate. */
  readonly tls?: RedisTls;
  /** Maximum wait for an answer. Milliseconds, default 250. */
  readonly commandTimeoutMs?: number;
}

interface RedisSubscription {
  readonly channels: readonly string[];
  /** Receives the bytes of a published message. Must not throw. */
  readonly onMessage: (channel: string, payload: Buffer) => void;
  /** Called after the first subscription and after every reconnection. Messages published before it are lost. */
  readonly onSubscribed?: () => void;
}

const DEFAULT_COMMAND_TIMEOUT_MS = 250;
const CONNECT_TIMEOUT_MS = 2_000;
const SUBSCRIBE_TIMEOUT_MS = 2_000;
const FIRST_RETRY_MS = 50;
const LAST_RETRY_MS = 2_000;
const KEEP_ALIVE_MS = 10_000;

/**
 * Opens Redis in the background and reconnects indefinitely. Each outage is logged once, also one in which Redis answers and refuses, as a
 * read-only node does after a failover.
 */
export function openRedis(
  url: string,
  log: RedisLogger,
  options: RedisConnectionOptions = {},
): RedisConnection {
  const client = new ObservedRedis(url, {
    ...toBaseOptions('phds', url, options),
    commandTimeout: options.commandTimeoutMs ?? DEFAULT_COMMAND_TIMEOUT_MS,
    // The address leads to another node by now.
    reconnectOnError: ({ message }) => message.startsWith('READONLY'),
  });
  const outages = logOutages(client, log);
  client.onOutcome = outages.note;
  const { promise: tried, resolve } = Promise.withResolvers<void>();
  client.once('ready', resolve).once('close', resolve);
  setTimeout(resolve, CONNECT_TIMEOUT_MS).unref();
  return {
    client,
    isReady: () => client.status === 'ready',
    isUp: () => client.status === 'ready' && !outages.isAway(),
    tried,
    [Symbol.asyncDispose]: async () => client.disconnect(),
  };
}

export interface RedisSubscriber extends AsyncDisposable {
  /** Whether messages arrive. */
  isSubscribed(): boolean;
}

/**
 * Subscribes to channels on a separate connection, and again after each reconnection. Redis does not keep messages for absent
 * subscribers, so a caller that must not miss one handles `onSubscribed`.
 */
export function subscribeRedis(
  url: string,
  subscription: RedisSubscription,
  log: RedisLogger,
  options: Pick<RedisConnectionOptions, 'tls'> = {},
): RedisSubscriber {
  const client = new Redis(url, {
    ...toBaseOptions('phds-subscriber', url, options),
    commandTimeout: SUBSCRIBE_TIMEOUT_MS,
    // Subscribed below on every connection: the library resubscribes only to channels that were subscribed successfully before.
    autoResubscribe: false,
  });
  logOutages(client, log);
  let isSubscribed = false;
  client.on('close', () => {
    isSubscribed = false;
  });
  const onSubscribed = () => {
    isSubscribed = true;
    subscription.onSubscribed?.();
  };
  client.on('ready', () => void subscribe(client, { ...subscription, onSubscribed }, log));
  client.on('messageBuffer', (channel: Buffer, payload: Buffer) => {
    subscription.onMessage(channel.toString(), payload);
  });
  return { isSubscribed: () => isSubscribed, [Symbol.asyncDispose]: async () => client.disconnect() };
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

function toBaseOptions(
  connectionName: string,
  url: string,
  { tls = {} }: RedisConnectionOptions,
): Omit<RedisOptions, 'replyMapping'> {
  const { ca, cert, key } = tls;
  const secure = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
  return {
    connectionName,
    ...(url.startsWith('rediss://') && { tls: secure }),
    connectTimeout: CONNECT_TIMEOUT_MS,
    keepAlive: KEEP_ALIVE_MS,
    enableOfflineQueue: false,
    // One write for all commands of a turn of the event loop.
    enableAutoPipelining: true,
    maxRetriesPerRequest: 1,
    autoResendUnfulfilledCommands: false,
    disableClientInfo: true,
    retryStrategy: (attempt) => Math.min(FIRST_RETRY_MS * 2 ** Math.min(attempt, 10), LAST_RETRY_MS),
  };
}

/** How long commands have to succeed after one that failed. Otherwise a busy node would log two lines for each command. */
const RECOVERY_MS = 1_000;

function logOutages(client: Redis, log: RedisLogger) {
  let away = false;
  let failedAt = Number.NEGATIVE_INFINITY;
  const fail = (error: Error) => {
    if (!away) log.warn({ err: error }, 'Redis is unavailable; continuing without it');
    away = true;
  };
  const recover = () => {
    if (!away || performance.now() - failedAt < RECOVERY_MS) return;
    log.info('Redis is back');
    away = false;
  };
  client.on('error', fail).on('ready', recover);
  return {
    isAway: () => away,
    /** Takes the outcome of a command; null for success. */
    note(error: Error | null): void {
      if (error === null) recover();
      else {
        failedAt = performance.now();
        fail(error);
      }
    },
  };
}

/** Sent by the library for each connection. A read-only node carries them out. */
const HANDSHAKE = new Set(['auth', 'client', 'hello', 'info', 'select']);

class ObservedRedis extends Redis {
  /** Takes the outcome of each command that was sent; null for success. */
  onOutcome: (error: Error | null) => void = () => undefined;

  override sendCommand(...[command, stream]: Parameters<Redis['sendCommand']>): unknown {
    const outcome = super.sendCommand(command, stream);
    if (HANDSHAKE.has(command.name)) return outcome;
    command.promise.then(
      () => this.onOutcome(null),
      (error: Error) => {
        if (isRefusal(error)) this.onOutcome(error);
      },
    );
    return outcome;
  }
}

/** Not a lost connection, which is logged as such, and not a script that the node does not have yet. */
function isRefusal({ name, message }: Error): boolean {
  return (name === 'ReplyError' && !message.startsWith('NOSCRIPT')) || message === 'Command timed out';
}

/** TLS to Redis, for `openRedis` and `subscribeRedis`. Throws a ConfigError unless the texts fit together. */
export function toRedisTls(config: SettingsOf<typeof redisSettings>): RedisTls {
  const { REDIS_TLS_CA: ca, REDIS_TLS_CERT: cert, REDIS_TLS_KEY: key } = config;
  if (cert !== undefined && key !== undefined)
    requirePair('REDIS_TLS_CERT', { ca, cert, key }, 'REDIS_TLS_CERT and REDIS_TLS_KEY');
  return { ca, cert, key };
}
