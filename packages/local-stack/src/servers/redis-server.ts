import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { findProgram, installPackage } from './system-programs.ts';

const PROGRAMS = ['redis-server', 'valkey-server'];
const PURPOSE = 'the messages that tell gateways of revocations at once';
const START_TIMEOUT_MS = 10_000;
const POLL_MS = 20;

/** Path of `redis-server` or `valkey-server` on the PATH. */
export function findRedisProgram(): Promise<string | null> {
  return findProgram(PROGRAMS);
}

/** Starts a Redis process without persistence on a port of 127.0.0.1; `listen` is how, unless without TLS. Disposal kills it. */
export async function startRedisProgram(
  program: string,
  port: number,
  listen: readonly string[] = ['--port', String(port)],
  isReady: (port: number) => Promise<boolean> = answersPing,
): Promise<AsyncDisposableStack> {
  if (await isReady(port)) throw new Error(`another Redis runs on port ${port}`);
  const settings = ['--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', tmpdir()];
  // Without libfaketime (`pnpm prove:hours`), which makes Redis hang at start-up. Redis only uses relative times.
  const { LD_PRELOAD: _, ...env } = process.env;
  const child = spawn(program, [...listen, ...settings], { env, detached: true, stdio: 'ignore' });
  // Nothing listens for the error of a program that does not start, which has ended then.
  child.once('error', () => undefined);
  // There is no data to save.
  const kill = () => void child.kill('SIGKILL');
  process.once('exit', kill);
  child.unref();
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(async () => {
    process.removeListener('exit', kill);
    if (hasEnded(child)) return;
    child.ref();
    const ended = once(child, 'exit');
    kill();
    await ended;
  });
  for (const deadline = Date.now() + START_TIMEOUT_MS; !(await isReady(port)); await delay(POLL_MS)) {
    if (hasEnded(child) || Date.now() > deadline) throw new Error(`${program} did not start on port ${port}`);
  }
  return cleanup.move();
}

function answersPing(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ port, host: '127.0.0.1', timeout: 1_000 }, () => socket.write('PING\r\n'));
  socket.once('data', (data) => resolve(data.toString().startsWith('+PONG')));
  for (const failure of ['error', 'close', 'timeout']) socket.once(failure, () => resolve(false));
  return promise.finally(() => socket.destroy());
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
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

/** Starts Redis: a given URL, a program on the PATH, an installation, in this order; or none, with a notice if it was wanted. */
export async function startRedisControl(options: {
  readonly wanted: boolean;
  /** URL of a running Redis (`REDIS_URL`); if set, none is started. */
  readonly givenUrl: string | undefined;
  /** TCP port on 127.0.0.1. */
  readonly port: number;
  /** Receives messages for the person at the terminal, before anything surprising happens. */
  readonly notice: (text: string) => void;
}): Promise<RedisControl> {
  const { wanted, givenUrl, port, notice } = options;
  const program = wanted && !givenUrl ? await findOrInstall(notice) : null;
  const launch = async () => (program === null ? null : startRedisProgram(program, port));
  let server = await launch();
  const stop = async () => {
    await server?.disposeAsync();
    server = null;
  };
  const given = wanted && givenUrl ? givenUrl : null;
  return {
    url: program === null ? given : `redis://127.0.0.1:${port}`,
    owned: program !== null,
    start: async () => {
      server ??= await launch();
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** The program, installed by apt-get if necessary (as root on Debian or Ubuntu only). The service is correct without Redis. */
async function findOrInstall(notice: (text: string) => void): Promise<string | null> {
  let program = await findRedisProgram();
  if (program === null && (await installPackage('redis-server', PURPOSE, notice)))
    program = await findRedisProgram();
  if (program === null)
    notice(
      'No Redis found: continuing without it. Revocations still hold; each gateway counts limits separately. ' +
        'Install redis-server or set REDIS_URL to use Redis.',
    );
  return program;
}
