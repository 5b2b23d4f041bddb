import type { ChildProcess } from 'node:child_process';
import { execFile, spawn } from 'node:child_process';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { findProgram, installPackage } from './system-programs.ts';

const run = promisify(execFile);

/** A running Redis. */
export interface RedisServer extends AsyncDisposable {
  readonly url: string;
  /** Ends the server when it is ours; a given one is left alone. Twice is harmless. */
  stop(): Promise<void>;
}

export interface RedisServerOptions {
  /** A Redis that runs already (`REDIS_URL`); nothing is started then. */
  readonly givenUrl?: string | undefined;
  /** TCP port on 127.0.0.1. */
  readonly port: number;
  /** Receives a sentence for the person at the terminal, before anything surprising happens. */
  readonly notice: (text: string) => void;
  /** Whether a missing Redis may be installed with apt-get (root on Debian or Ubuntu only). Default true. */
  readonly mayInstall?: boolean;
}

const PROGRAMS = ['redis-server', 'valkey-server'];
const IMAGE = 'redis:7';
const START_TIMEOUT_MS = 10_000;
const POLL_MS = 20;

/**
 * Finds a Redis and starts it without persistence: the given one, else a program on the PATH, else Docker, else an
 * installation by apt-get. Answers null, with a notice, where none of it works: the service is correct without.
 */
export async function startRedisServer(options: RedisServerOptions): Promise<RedisServer | null> {
  if (options.givenUrl) return givenServer(options.givenUrl);
  const program = await findRedisProgram();
  if (program !== null) return startRedisProgram(program, options.port);
  if (await dockerAnswers()) {
    const server = await startContainer(options.port, options.notice);
    if (server !== null) return server;
  }
  if (options.mayInstall !== false && (await installPackage('redis-server', options.notice))) {
    const installed = await findRedisProgram();
    if (installed !== null) return startRedisProgram(installed, options.port);
  }
  options.notice(
    'No Redis found: going on without. Revocations hold all the same; limits are counted by each gateway alone. ' +
      'Install redis-server or set REDIS_URL to have it.',
  );
  return null;
}

/** Path of `redis-server` or `valkey-server` on the PATH. */
export function findRedisProgram(): Promise<string | null> {
  return findProgram(PROGRAMS);
}

/** Starts a Redis process of our own on a port of 127.0.0.1, without persistence. */
export async function startRedisProgram(program: string, port: number): Promise<RedisServer> {
  if (await answersPing(port)) throw new Error(`another Redis runs on port ${port}`);
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  // Without libfaketime (`pnpm prove:hours`), which hangs Redis at its start. Redis keeps relative times only.
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

/** Whether a Docker engine is there and answers. */
export async function dockerAnswers(): Promise<boolean> {
  return run('docker', ['info'], { timeout: 5_000 }).then(
    () => true,
    () => false,
  );
}

function givenServer(url: string): RedisServer {
  const stop = async () => undefined;
  return { url, stop, [Symbol.asyncDispose]: stop };
}

async function startContainer(port: number, notice: (text: string) => void): Promise<RedisServer | null> {
  notice(`Starting Redis in Docker (${IMAGE}).`);
  const publish = `127.0.0.1:${port}:6379`;
  // Said outright: whether a Redis without a password listens beyond its container depends on who built the image.
  const open = ['--bind', '0.0.0.0', '--protected-mode', 'no'];
  const settings = ['redis-server', ...open, '--save', '', '--appendonly', 'no'];
  try {
    const { stdout } = await run('docker', ['run', '--rm', '-d', '-p', publish, IMAGE, ...settings]);
    const container = stdout.trim();
    const stop = async () => void (await run('docker', ['rm', '-f', container]).catch(() => undefined));
    await untilListening(port, () => false).catch(async (error) => {
      await stop();
      throw error;
    });
    return { url: `redis://127.0.0.1:${port}`, stop, [Symbol.asyncDispose]: stop };
  } catch (error) {
    notice(`Docker could not start Redis: ${(error as Error).message.split('\n')[0]}`);
    return null;
  }
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
  // Nothing to save, nothing to wait for.
  child.kill('SIGKILL');
  await promise;
}
