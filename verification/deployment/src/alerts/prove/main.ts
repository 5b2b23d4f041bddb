import { setTimeout as delay } from 'node:timers/promises';
import { runProof } from '@phds/guarantees/command';
import { eventually } from '@phds/test-kit/conditions';
import { Command } from 'commander';
import { readRuleFile } from '../rule-files.ts';
import { type Cause, chooseCauses } from './causes.ts';
import { type ActiveAlert, type Prometheus, shortenRules, startPrometheus } from './prometheus.ts';
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
  const say = (line: string) => console.log(`  ${line}`);
  await using site = await startSite(say, signal);
  const targets = toTargets(site);
  await using prometheus = await startPrometheus(shortenRules(readRuleFile(), FACTOR), targets, INTERVAL_MS);
  // Alerts about absent series are pending before the first scrape.
  await eventually(async () => (await prometheus.count('up == 1')) === targets.length);
  await eventually(async () => (await prometheus.listAlerts()).length === 0);
  await using _load = startLoad(site);
  let isKept = true;
  for (const cause of causes) {
    console.log(`${cause.alert}: ${cause.what}`);
    const violations = await judge(cause, { site, prometheus, signal, say });
    for (const violation of violations) say(`VIOLATION: ${violation}`);
    isKept &&= violations.length === 0;
  }
  return isKept;
}

const LOOK_MS = 500;
const FIRE_LIMIT_MS = 300_000;
const RESOLVE_LIMIT_MS = 420_000;

/** These alerts keep firing for hours because of their query windows, so a next fault does not wait for their end. */
const LINGERING: readonly string[] = ['GatewayErrors', 'StaleReadAfterRevocation', 'CallerRefused'];

interface Watch {
  readonly site: Site;
  readonly prometheus: Prometheus;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

/** Causes the fault, waits for its alert, ends the fault, and waits for the end of the alert. Returns what was not as it should be. */
async function judge(cause: Cause, watch: Watch): Promise<string[]> {
  const violations: string[] = [];
  let left: readonly string[] = [];
  const isQuiet = await until(watch, RESOLVE_LIMIT_MS, (alerts) => {
    left = alerts.map(nameOf).filter((name) => !LINGERING.includes(name));
    return left.length === 0 || undefined;
  });
  if (isQuiet === undefined) violations.push(`before the fault: ${left.join(', ')} did not end`);
  const seen = new Set<string>();
  const findOwn = (alerts: readonly ActiveAlert[]) => {
    const firing = alerts.filter(({ state }) => state === 'firing');
    for (const alert of firing) seen.add(nameOf(alert));
    return firing.find((alert) => isOf(cause, alert));
  };
  const begun = performance.now();
  let firing: ActiveAlert | undefined;
  try {
    await using undo = new AsyncDisposableStack();
    await cause.begin(watch.site, undo);
    firing = await until(watch, FIRE_LIMIT_MS, findOwn);
  } catch (error) {
    watch.signal.throwIfAborted();
    violations.push(`the fault itself failed: ${String(error)}`);
  }
  if (firing === undefined) violations.push('it did not fire');
  const ended = performance.now();
  const isOver = await until(watch, RESOLVE_LIMIT_MS, (alerts) => findOwn(alerts) === undefined || undefined);
  if (isOver === undefined) violations.push('it did not end');
  const { summary = '', description = '' } = firing?.annotations ?? {};
  const text = `${summary}. ${description}`;
  if (/<no value>|<error|%!| {2}/.test(text)) violations.push(`its text is incomplete: ${text}`);
  const others = [...seen].filter((name) => name !== cause.alert);
  const expected = [...(cause.also ?? others), ...LINGERING];
  violations.push(...others.filter((name) => !expected.includes(name)).map((name) => `${name} fired too`));
  const seconds = [ended - begun, performance.now() - ended].map((each) => Math.round(each / 1000));
  watch.say(text);
  watch.say(
    `firing ${seconds[0]} s after the fault, over ${seconds[1]} s after its end; also: ${others.join(', ')}`,
  );
  return violations;
}

/** Looks at the alerts until there is what it looks for; undefined when the time is over. */
async function until<T>(
  { prometheus, signal }: Watch,
  limitMs: number,
  look: (alerts: readonly ActiveAlert[]) => T | undefined,
): Promise<T | undefined> {
  const deadline = performance.now() + limitMs;
  while (performance.now() < deadline) {
    signal.throwIfAborted();
    const found = look(await prometheus.listAlerts());
    if (found !== undefined) return found;
    await delay(LOOK_MS);
  }
  return undefined;
}

function isOf({ alert, severity }: Cause, { labels }: ActiveAlert): boolean {
  return labels['alertname'] === alert && (severity === undefined || labels['severity'] === severity);
}

function nameOf({ labels }: ActiveAlert): string {
  return labels['alertname'] ?? '';
}

await runProof(command, prove);
