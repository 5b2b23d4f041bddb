import { type ChildProcess, spawn } from 'node:child_process';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { findProgram, installPackage } from './system-programs.ts';

/** A running Redis. */
export interface RedisServer extends AsyncDisposable {
  readonly url: string;
  /** Stops the server if we started it. Idempotent. */
  stop(): Promise<void>;
}

interface RedisServerOptions {
  /** URL of a running Redis (`REDIS_URL`); if set, none is started. */
  readonly givenUrl?: string | undefined;
  /** TCP port on 127.0.0.1. */
  readonly port: number;
  /** Receives messages for the person at the terminal, before anything surprising happens. */
  readonly notice: (text: string) => void;
}

const PROGRAMS = ['redis-server', 'valkey-server'];
const PURPOSE = 'the messages that tell gateways of revocations at once';
const START_TIMEOUT_MS = 10_000;
const POLL_MS = 20;

/**
 * Finds or starts a Redis without persistence: the given one, else a program on the PATH, else an installation by apt-get (as root on
 * Debian or Ubuntu only). Returns null, with a notice, if all fail: the service is correct without Redis.
 */
async function startRedisServer(options: RedisServerOptions): Promise<RedisServer | null> {
  if (options.givenUrl) return givenServer(options.givenUrl);
  const program = await findRedisProgram();
  if (program !== null) return startRedisProgram(program, options.port);
  if (await installPackage('redis-server', PURPOSE, options.notice)) {
    const installed = await findRedisProgram();
    if (installed !== null) return startRedisProgram(installed, options.port);
  }
  options.notice(
    'No Redis found: continuing without it. Revocations still hold; each gateway counts limits separately. ' +
      'Install redis-server or set REDIS_URL to use Redis.',
  );
  return null;
}

/** Path of `redis-server` or `valkey-server` on the PATH. */
export function findRedisProgram(): Promise<string | null> {
  return findProgram(PROGRAMS);
}

/** Starts a Redis process without persistence on a port of 127.0.0.1. */
export async function startRedisProgram(program: string, port: number): Promise<RedisServer> {
  if (await answersPing(port)) throw new Error(`another Redis runs on port ${port}`);
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  // Without libfaketime (`pnpm prove:hours`), which makes Redis hang at start-up. Redis only uses relative times.
  const { LD_PRELOAD: _, ...env } = process.env;
  const child = spawn(program, [...settings, '--dir', tmpdir()], { env, detached: true, stdio: 'ignore' });
  const stopAtExit = () => void child.kill('SIGKILL');
  process.once('exit', stopAtExit);
  child.unref();
  const stop = async () => {
    process.removeListener('exit', stopAtExit);
    await endProcess(child);
  };
  try {
    await untilListening(port, () => hasEnded(child));
  } catch (error) {
    await stop();
    throw new Error(`${program} did not start on port ${port}`, { cause: error });
  }
  return { url: `redis://127.0.0.1:${port}`, stop, [Symbol.asyncDispose]: stop };
}

function givenServer(url: string): RedisServer {
  const stop = async () => undefined;
  return { url, stop, [Symbol.asyncDispose]: stop };
}

async function untilListening(port: number, hasFailed: () => boolean): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (!(await answersPing(port))) {
    if (hasFailed()) throw new Error('the process ended');
    if (Date.now() > deadline) throw new Error('no answer in time');
    await delay(POLL_MS);
  }
}

function answersPing(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ port, host: '127.0.0.1', timeout: 1_000 }, () => socket.write('PING\r\n'));
  socket.once('data', (data) => resolve(data.toString().startsWith('+PONG')));
  socket.once('error', () => resolve(false));
  socket.once('close', () => resolve(false));
  socket.once('timeout', () => resolve(false));
  return promise.finally(() => socket.destroy());
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}

async function endProcess(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  child.once('exit', () => resolve());
  child.ref();
  // There is no data to save.
  child.kill('SIGKILL');
  await promise;
}

/** The stack's Redis, which tests can stop and start. */
export interface RedisControl extends AsyncDisposable {
  /** Null when no Redis was found or wanted. */
  readonly url: string | null;
  /** Whether we started the server. */
  readonly owned: boolean;
  /** Starts the server again on the same port. */
  start(): Promise<void>;
  /** Kills the server as a crash would. Does nothing if we did not start it. */
  stop(): Promise<void>;
}

/** Starts Redis: a given URL, a program, an installation, in this order; or none. */
export async function startRedisControl(options: {
  readonly wanted: boolean;
  readonly givenUrl: string | undefined;
  readonly port: number;
  readonly notice: (text: string) => void;
}): Promise<RedisControl> {
  const { wanted, givenUrl, port, notice } = options;
  const launch = () => startRedisServer({ givenUrl, port, notice });
  let server: RedisServer | null = wanted ? await launch() : null;
  const stop = async () => {
    await server?.stop();
    server = null;
  };
  return {
    url: server?.url ?? null,
    owned: server !== null && !givenUrl,
    start: async () => {
      server ??= await launch();
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
