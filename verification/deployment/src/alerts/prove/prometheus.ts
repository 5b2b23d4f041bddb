import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { killAll } from '@phds/guarantees/processes';
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

/** A Prometheus of our own on the loopback interface, with its data in a temporary directory. */
export interface Prometheus extends AsyncDisposable {
  /** The alerts that are pending or firing now. */
  listAlerts(): Promise<readonly ActiveAlert[]>;
  /** The number of values that an expression has now. */
  count(expr: string): Promise<number>;
}

/** Starts it and waits until it can be asked. */
export async function startPrometheus(
  rules: RuleFile,
  targets: readonly Target[],
  intervalMs: number,
): Promise<Prometheus> {
  await using cleanup = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'phds-alerts-'));
  cleanup.defer(() => rm(directory, { recursive: true }));
  const address = `127.0.0.1:${await leasePort()}`;
  // YAML contains JSON.
  await writeFile(join(directory, 'alerts.yml'), JSON.stringify(rules));
  await writeFile(join(directory, 'prometheus.yml'), JSON.stringify(toConfiguration(targets, intervalMs)));
  const args = ['--config.file=prometheus.yml', '--storage.tsdb.path=data', '--log.level=warn'];
  const child = spawn('prometheus', [...args, `--web.listen-address=${address}`], {
    cwd: directory,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  await once(child, 'spawn');
  cleanup.defer(() => killAll([child.pid ?? 0]));
  await eventually(async () => (await fetch(`http://${address}/-/ready`)).ok);
  const ask = async (path: string) => {
    const response = await fetch(`http://${address}/api/v1/${path}`);
    return (await response.json()) as { data: { alerts: ActiveAlert[]; result: object[] } };
  };
  const running = cleanup.move();
  return {
    listAlerts: async () => (await ask('alerts')).data.alerts,
    count: async (expr) => (await ask(`query?${new URLSearchParams({ query: expr })}`)).data.result.length,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
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
