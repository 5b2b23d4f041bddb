import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { leasePort } from '@phds/local-stack/servers/leased-ports';
import { eventually } from '@phds/test-kit/conditions';
import type { AlertRule, RuleFile } from '../rule-files.ts';

export interface Target {
  readonly job: string;
  readonly instance: string;
  /** `host:port` of its probe port. */
  readonly address: string;
}

/** An alert as Prometheus shows it. */
export interface ActiveAlert {
  readonly state: 'pending' | 'firing';
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

const STOP_MS = 5_000;

/** A Prometheus of our own on the loopback interface, with its data in a temporary directory. */
export class Prometheus implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #directory: string;
  readonly #url: string;

  private constructor(child: ChildProcess, directory: string, url: string) {
    this.#child = child;
    this.#directory = directory;
    this.#url = url;
  }

  /** Starts it and waits until it can be asked. */
  static async start(rules: RuleFile, targets: readonly Target[], intervalMs: number): Promise<Prometheus> {
    const directory = await mkdtemp(join(tmpdir(), 'phds-alerts-'));
    const port = await leasePort();
    // YAML contains JSON.
    await writeFile(join(directory, 'alerts.yml'), JSON.stringify(rules));
    await writeFile(join(directory, 'prometheus.yml'), JSON.stringify(toConfiguration(targets, intervalMs)));
    const args = [
      '--config.file=prometheus.yml',
      '--storage.tsdb.path=data',
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=warn',
    ];
    const child = spawn('prometheus', args, { cwd: directory, stdio: ['ignore', 'inherit', 'inherit'] });
    const server = new Prometheus(child, directory, `http://127.0.0.1:${port}`);
    try {
      await once(child, 'spawn');
      await eventually(async () => (await fetch(`${server.#url}/-/ready`)).ok);
      return server;
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The alerts that are pending or firing now. */
  async listAlerts(): Promise<readonly ActiveAlert[]> {
    const response = await fetch(`${this.#url}/api/v1/alerts`);
    const { data } = (await response.json()) as { data: { alerts: ActiveAlert[] } };
    return data.alerts;
  }

  /** The values of an expression now, with their labels. */
  async query(expr: string): Promise<readonly { metric: Record<string, string>; value: [number, string] }[]> {
    const response = await fetch(`${this.#url}/api/v1/query?${new URLSearchParams({ query: expr })}`);
    const { data, error } = (await response.json()) as {
      data?: { result: { metric: Record<string, string>; value: [number, string] }[] };
      error?: string;
    };
    if (data === undefined) throw new Error(`${expr}: ${error}`);
    return data.result;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null) {
      const ended = once(this.#child, 'exit');
      const force = setTimeout(() => this.#child.kill('SIGKILL'), STOP_MS);
      this.#child.kill('SIGTERM');
      await ended;
      clearTimeout(force);
    }
    await rm(this.#directory, { recursive: true, force: true });
  }
}

function toConfiguration(targets: readonly Target[], intervalMs: number) {
  const interval = `${intervalMs}ms`;
  const jobs = [...new Set(targets.map(({ job }) => job))];
  return {
    global: { scrape_interval: interval, scrape_timeout: interval, evaluation_interval: interval },
    rule_files: ['alerts.yml'],
    scrape_configs: jobs.map((job) => ({
      job_name: job,
      static_configs: targets
        .filter((target) => target.job === job)
        .map(({ instance, address }) => ({ targets: [address], labels: { instance } })),
    })),
  };
}

const SECONDS = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;

/**
 * The same rules in less time: every duration (`for`, windows, `offset`) and every age (`N * 60`) is divided by one factor. Rates, shares,
 * latencies and counts stay.
 */
export function shortenRules({ groups }: RuleFile, factor: number): RuleFile {
  return {
    groups: groups.map(({ name, rules }) => ({
      name,
      rules: rules.map((rule) => ({
        ...rule,
        expr: shortenExpression(rule.expr, factor),
        ...('for' in rule ? { for: shorten((rule as AlertRule).for ?? '0s', factor) } : {}),
      })),
    })),
  };
}

function shortenExpression(expr: string, factor: number): string {
  return expr
    .replace(/\[(\w+)\]/g, (_, duration: string) => `[${shorten(duration, factor)}]`)
    .replace(/\boffset (\w+)/g, (_, duration: string) => `offset ${shorten(duration, factor)}`)
    .replace(/\* 60\b/g, `* ${60 / factor}`);
}

function shorten(duration: string, factor: number): string {
  const [, count, unit] = /^(\d+)([smhd])$/.exec(duration) ?? [];
  if (count === undefined || unit === undefined) throw new Error(`not a duration: ${duration}`);
  return `${Math.round((Number(count) * SECONDS[unit as keyof typeof SECONDS] * 1000) / factor)}ms`;
}
