import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';

const repositoryRoot = resolve(import.meta.dirname, '../../../..');

/** Configuration, rules and rule tests of Prometheus. */
export const PROMETHEUS_DIRECTORY = join(repositoryRoot, 'deploy/prometheus');

/** The page with a section for each alert. */
export const RUNBOOKS = 'docs/operations/runbook.md';

export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

interface RecordingRule {
  readonly record: string;
  readonly expr: string;
}

type Rule = AlertRule | RecordingRule;

export interface RuleFile {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
}

/** The rules of deploy/prometheus/alerts.yml. */
export function readRuleFile(): RuleFile {
  return parse(readFileSync(join(PROMETHEUS_DIRECTORY, 'alerts.yml'), 'utf8'));
}

export function listAlertRules({ groups }: RuleFile): AlertRule[] {
  return groups.flatMap(({ rules }) => rules.filter((rule) => 'alert' in rule));
}

export function listRecordingRules({ groups }: RuleFile): RecordingRule[] {
  return groups.flatMap(({ rules }) => rules.filter((rule) => 'record' in rule));
}

interface RuleTests {
  readonly group_eval_order: readonly string[];
  readonly tests: readonly {
    readonly name: string;
    readonly promql_expr_test: readonly {
      readonly eval_time: string;
      readonly exp_samples?: readonly { readonly labels: string }[];
    }[];
  }[];
}

/** The cases of deploy/prometheus/alerts.test.yml. */
export function readRuleTests(): RuleTests {
  // Every case refers to the same series of `up`, which the default limit takes for an attack.
  return parse(readFileSync(join(PROMETHEUS_DIRECTORY, 'alerts.test.yml'), 'utf8'), { maxAliasCount: -1 });
}

/** The text of a file of the repository. */
export function readText(file: string): string {
  return readFileSync(join(repositoryRoot, file), 'utf8');
}

/** Whether Prometheus's tool for checks is on the PATH. */
export function hasPromtool(): boolean {
  return spawnSync('promtool', ['--version']).error === undefined;
}

/** Runs promtool in a directory. Returns what it printed if it failed, otherwise null. */
export function findProblems(directory: string, ...args: readonly string[]): string | null {
  const { status, stdout, stderr, error } = spawnSync('promtool', args, { cwd: directory, encoding: 'utf8' });
  if (error !== undefined) throw error;
  return status === 0 ? null : `${stdout}${stderr}`;
}
