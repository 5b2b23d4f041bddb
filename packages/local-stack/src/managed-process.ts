import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { repositoryRoot } from './data-directory.ts';

/** Appends lines to a log file. */
interface LogWriter extends Disposable {
  readonly write: (line: string) => void;
}

/** Opens a log file for lines written by this process. Lines after disposal are dropped. */
export function openLogWriter(path: string): LogWriter {
  const file = openSync(path, 'a');
  let open = true;
  return {
    write: (line) => {
      if (open) writeSync(file, `${line}\n`);
    },
    [Symbol.dispose]: () => {
      open = false;
      closeSync(file);
    },
  };
}

interface ManagedProcessOptions {
  readonly name: string;
  /** Program to run, relative to the repository. */
  readonly program: string;
  readonly env: Readonly<Record<string, string>>;
  readonly logFile: string;
  /** Answers 200 when the process is ready. */
  readonly readyUrl: string;
  /** Receives a message when the process ends unexpectedly, and when it is ready again. */
  readonly notice: (text: string) => void;
}

const POLL_MS = 50;
const READY_TIMEOUT_MS = 120_000;
const PROBE_TIMEOUT_MS = 2_000;
const STOP_GRACE_MS = 3_500;
const FIRST_BACKOFF_MS = 200;
const LAST_BACKOFF_MS = 5_000;
const STEADY_MS = 10_000;
const LOG_TAIL_LINES = 20;

const EXIT_WITH_PARENT = join(import.meta.dirname, 'exit-with-parent.ts');

/**
 * A program that runs as a separate process. If it ends unexpectedly, it is restarted after a pause that grows with repeated
 * failures. It writes directly to its log file, and ends when this process does.
 */
export class ManagedProcess {
  readonly name: string;
  readonly #options: ManagedProcessOptions;
  #child: ChildProcess | null = null;
  /** Whether it should be running. */
  #wanted = false;
  #startedAt = 0;
  readonly #uncalledEnds: string[] = [];
  /** Number of consecutive unexpected ends without a steady run in between. */
  #inRow = 0;
  #restart: NodeJS.Timeout | undefined;

  constructor(options: ManagedProcessOptions) {
    this.name = options.name;
    this.#options = options;
  }

  /** Process id; null while it is not running. */
  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /** The cause of each unexpected end: a signal, or `code 1`. */
  get uncalledEnds(): readonly string[] {
    return this.#uncalledEnds;
  }

  /** Starts the process unless it is running and waits until it is ready. Throws, with the end of its log, if it fails. */
  async start(signal?: AbortSignal): Promise<void> {
    this.#wanted = true;
    const ended = this.#uncalledEnds.length;
    if (this.#child === null) this.#spawn();
    await this.#until(() => this.#uncalledEnds.length > ended, signal);
  }

  /** Waits until the process is ready, through restarts. Throws if it was stopped or takes too long. */
  async untilReady(signal?: AbortSignal): Promise<void> {
    await this.#until(() => false, signal);
  }

  async #until(isHopeless: () => boolean, signal: AbortSignal | undefined): Promise<void> {
    const deadline = Date.now() + READY_TIMEOUT_MS;
    while (!(await this.#isReady())) {
      signal?.throwIfAborted();
      if (isHopeless()) throw this.#failure('does not start');
      if (!this.#wanted) throw new Error(`${this.name} was stopped`);
      if (Date.now() > deadline) throw this.#failure('is not ready in time');
      await delay(POLL_MS);
    }
  }

  /** Asks the process to end, kills it if that takes longer than the grace, and leaves it stopped until `start`. */
  async stop(graceMs: number = STOP_GRACE_MS): Promise<void> {
    const child = this.#release();
    if (child === null) return;
    const force = setTimeout(() => child.kill('SIGKILL'), graceMs);
    await end(child, 'SIGTERM');
    clearTimeout(force);
  }

  /** Kills the process, waits for its end, and leaves it stopped until `start`. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#release();
    if (child !== null) await end(child, signal);
  }

  #release(): ChildProcess | null {
    this.#wanted = false;
    clearTimeout(this.#restart);
    return this.#child;
  }

  #spawn(): void {
    const { program, env, logFile } = this.#options;
    const log = openSync(logFile, 'a');
    // Detached: Ctrl-C in a terminal must reach only us, because we stop everything in order.
    const child = spawn(process.execPath, ['--import', EXIT_WITH_PARENT, join(repositoryRoot, program)], {
      cwd: repositoryRoot,
      env,
      detached: true,
      stdio: ['ignore', log, log, 'ipc'],
    });
    closeSync(log);
    this.#child = child;
    this.#startedAt = Date.now();
    child.once('error', () => undefined);
    child.once('exit', (code, signal) => this.#onExit(signal ?? `code ${code}`));
  }

  #onExit(how: string): void {
    this.#child = null;
    if (!this.#wanted) return;
    this.#uncalledEnds.push(how);
    this.#inRow = Date.now() - this.#startedAt > STEADY_MS ? 1 : this.#inRow + 1;
    const pause = Math.min(FIRST_BACKOFF_MS * 2 ** (this.#inRow - 1), LAST_BACKOFF_MS);
    this.#options.notice(`${this.name} ended (${how}); starting it again. Its log: ${this.#options.logFile}`);
    this.#restart = setTimeout(() => {
      this.#spawn();
      this.untilReady().then(
        () => this.#options.notice(`${this.name} is back`),
        () => undefined,
      );
    }, pause);
  }

  async #isReady(): Promise<boolean> {
    if (this.#child === null) return false;
    try {
      const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS);
      const response = await fetch(this.#options.readyUrl, { signal });
      await response.body?.cancel();
      return response.status === 200;
    } catch {
      return false;
    }
  }

  #failure(what: string): Error {
    const lines = readFileSync(this.#options.logFile, 'utf8').trimEnd().split('\n').slice(-LOG_TAIL_LINES);
    return new Error(`${this.name} ${what}. The end of ${this.#options.logFile}:\n${lines.join('\n')}`);
  }
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
}
