import { setTimeout as delay } from 'node:timers/promises';
import { runProof } from '@phds/guarantees/command';
import { eventually } from '@phds/test-kit/conditions';
import { Command } from 'commander';
import { readRuleFile } from '../rule-files.ts';
import { type Cause, chooseCauses } from './causes.ts';
import { type ActiveAlert, Prometheus, shortenRules } from './prometheus.ts';
import { type Site, startLoad, startSite, toTargets } from './site.ts';

const FACTOR = 20;
const INTERVAL_MS = 1_000;
/** Of the whole run. */
const LIMIT_MS = 3_600_000;

const command = new Command('pnpm prove:alerts')
  .description(
    'Causes the fault of each alert once, on a real service with a real Prometheus, and waits until the alert fires and ends.',
  )
  .argument('[alerts...]', 'names of alerts; all of them unless given');

async function prove(interrupt: AbortSignal): Promise<boolean> {
  const causes = chooseCauses(command.args);
  const signal = AbortSignal.any([interrupt, AbortSignal.timeout(LIMIT_MS)]);
  const say = (line: string) => console.log(line);
  await using site = await startSite((line) => say(`  ${line}`), signal);
  const rules = shortenRules(readRuleFile(), FACTOR);
  const targets = toTargets(site);
  await using prometheus = await Prometheus.start(rules, targets, INTERVAL_MS);
  // Alerts about absent series are pending before the first scrape.
  await eventually(async () => (await prometheus.query('up == 1')).length === targets.length);
  await eventually(async () => (await prometheus.listAlerts()).length === 0);
  await using _load = startLoad(site);
  const verdicts: Verdict[] = [];
  for (const cause of causes) {
    say(`${cause.alert}: ${cause.what}`);
    const verdict = await judge(cause, { site, prometheus, signal });
    verdicts.push(verdict);
    say(`  ${verdict.text}`);
    say(`  ${describe(verdict)}`);
    for (const violation of verdict.violations) say(`  VIOLATION: ${violation}`);
  }
  return verdicts.every(({ violations }) => violations.length === 0);
}

function describe({ firedMs, resolvedMs, others }: Verdict): string {
  const seconds = (milliseconds: number | null) =>
    milliseconds === null ? 'not' : `after ${Math.round(milliseconds / 1000)} s`;
  return `fired ${seconds(firedMs)}, ended ${seconds(resolvedMs)}, also fired: ${others.join(', ') || 'none'}`;
}

const LOOK_MS = 500;
const FIRE_LIMIT_MS = 300_000;
const RESOLVE_LIMIT_MS = 420_000;

/** These alerts keep firing for hours because of their query windows, so a next fault does not wait for their end. */
const LINGERING: readonly string[] = ['GatewayErrors', 'StaleReadAfterRevocation', 'CallerRefused'];

/** What became of one alert. */
export interface Verdict {
  readonly cause: Cause;
  /** Milliseconds from the beginning of the fault; null if the alert did not fire. */
  readonly firedMs: number | null;
  /** Milliseconds from the end of the fault; null if the alert did not end. */
  readonly resolvedMs: number | null;
  /** The summary and description as Prometheus filled them in. */
  readonly text: string;
  /** Other alerts that fired meanwhile. */
  readonly others: readonly string[];
  readonly violations: readonly string[];
}

interface Watch {
  readonly site: Site;
  readonly prometheus: Prometheus;
  readonly signal: AbortSignal;
}

/** Causes the fault, waits for its alert, ends the fault, and waits for the end of the alert. */
export async function judge(cause: Cause, watch: Watch): Promise<Verdict> {
  const quiet = await untilQuiet(watch);
  const seen = new Set<string>();
  const violations: string[] = quiet === null ? [] : [`before the fault: ${quiet} did not end`];
  const begun = performance.now();
  let firing: ActiveAlert | null = null;
  try {
    await using undo = new AsyncDisposableStack();
    await cause.begin(watch.site, undo);
    firing = await untilFiring(cause, watch, seen);
  } catch (error) {
    watch.signal.throwIfAborted();
    violations.push(`the fault itself failed: ${String(error)}`);
  }
  const firedMs = firing === null ? null : performance.now() - begun;
  if (firing === null) violations.push('it did not fire');
  const ended = performance.now();
  const isResolved = await untilOrNull(RESOLVE_LIMIT_MS, watch, async () => {
    const alerts = await list(watch, seen);
    return alerts.some((alert) => isOf(cause, alert)) ? null : true;
  });
  if (isResolved === null) violations.push('it did not end');
  const own = firing === null ? '' : `${firing.annotations['summary']}. ${firing.annotations['description']}`;
  if (/<no value>|<error|%!| {2}/.test(own)) violations.push(`its text is incomplete: ${own}`);
  const others = [...seen].filter((name) => name !== cause.alert);
  const expected = [...(cause.also ?? others), ...LINGERING];
  violations.push(...others.filter((name) => !expected.includes(name)).map((name) => `${name} fired too`));
  return {
    cause,
    firedMs,
    resolvedMs: isResolved === null ? null : performance.now() - ended,
    text: own,
    others,
    violations,
  };
}

/** Waits until nothing fires or is about to, except what lingers. Returns the alerts that did not end, or null. */
async function untilQuiet(watch: Watch): Promise<string | null> {
  let left = '';
  const quiet = await untilOrNull(RESOLVE_LIMIT_MS, watch, async () => {
    const names = (await watch.prometheus.listAlerts()).map(nameOf);
    left = names.filter((name) => !LINGERING.includes(name)).join(', ');
    return left === '' ? true : null;
  });
  return quiet === null ? left : null;
}

function untilFiring(cause: Cause, watch: Watch, seen: Set<string>): Promise<ActiveAlert | null> {
  return untilOrNull(FIRE_LIMIT_MS, watch, async () => {
    const alerts = await list(watch, seen);
    return alerts.find((alert) => isOf(cause, alert)) ?? null;
  });
}

async function list({ prometheus }: Watch, seen: Set<string>): Promise<ActiveAlert[]> {
  const firing = (await prometheus.listAlerts()).filter(({ state }) => state === 'firing');
  for (const alert of firing) seen.add(nameOf(alert));
  return firing;
}

async function untilOrNull<T>(
  limitMs: number,
  { signal }: Watch,
  look: () => Promise<T | null>,
): Promise<T | null> {
  const deadline = performance.now() + limitMs;
  while (performance.now() < deadline) {
    signal.throwIfAborted();
    const found = await look();
    if (found !== null) return found;
    await delay(LOOK_MS);
  }
  return null;
}

function isOf({ alert, severity }: Cause, { labels }: ActiveAlert): boolean {
  return labels['alertname'] === alert && (severity === undefined || labels['severity'] === severity);
}

function nameOf({ labels }: ActiveAlert): string {
  return labels['alertname'] ?? '';
}

await runProof(command, prove);
