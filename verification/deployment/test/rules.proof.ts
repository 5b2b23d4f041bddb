import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { describeWith } from '@phds/test-kit/requirements';
import { CAUSES } from '../src/alerts/prove/causes.ts';
import { shortenRules } from '../src/alerts/prove/prometheus.ts';
import {
  findProblems,
  hasPromtool,
  listAlertRules,
  PROMETHEUS_DIRECTORY,
  RUNBOOKS,
  readRuleFile,
  readRuleTests,
  readText,
} from '../src/alerts/rule-files.ts';

const ruleFile = readRuleFile();
const rules = listAlertRules(ruleFile);
const names = [...new Set(rules.map(({ alert }) => alert))];
const { tests: cases, group_eval_order: order } = readRuleTests();

describeWith('promtool', hasPromtool())('promtool', () => {
  test.each(['prometheus.yml', 'prometheus-static.yml'])('accepts %s and the rules that it loads', (file) => {
    expect(findProblems(PROMETHEUS_DIRECTORY, 'check', 'config', file)).toBeNull();
  });

  test('accepts the rules of the database servers, which fire when they should', () => {
    expect(findProblems(PROMETHEUS_DIRECTORY, 'check', 'rules', 'databases.yml')).toBeNull();
    expect(findProblems(PROMETHEUS_DIRECTORY, 'test', 'rules', 'databases.test.yml')).toBeNull();
  });

  // Debian builds Prometheus without the discovery of Kubernetes, so the rest of the file is checked.
  test('accepts what prometheus-kubernetes.yml does with the pods that it finds', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'phds-prometheus-'));
    try {
      await cp(PROMETHEUS_DIRECTORY, directory, { recursive: true });
      const file = join(directory, 'prometheus-kubernetes.yml');
      const text = await readFile(file, 'utf8');
      const without = text.replace(/^ *kubernetes_sd_configs: .*\n/m, '');
      expect(without).not.toBe(text);
      await writeFile(file, without);
      expect(findProblems(directory, 'check', 'config', file)).toBeNull();
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  test('finds each alert firing when it should and not before or otherwise', () => {
    expect(findProblems(PROMETHEUS_DIRECTORY, 'test', 'rules', 'alerts.test.yml')).toBeNull();
  });
});

test('the cases evaluate all groups of rules in the order of the file, so that recorded values are never those of the minute before', () => {
  expect(order).toEqual(ruleFile.groups.map(({ name }) => name));
});

test.each(names)('%s has a case in which it fires and a time at which it does not', (name) => {
  const own = cases.filter((each) => each.name.startsWith(`${name} `));
  const fires = own.flatMap(({ promql_expr_test }) =>
    promql_expr_test.map(({ exp_samples = [] }) =>
      exp_samples.some(({ labels }) => labels.includes(`alertname="${name}"`)),
    ),
  );
  expect(new Set(fires)).toEqual(new Set([true, false]));
});

test('the page of alerts has one section for each alert, in the order of the rules, and no other', () => {
  const headings = [...readText(RUNBOOKS).matchAll(/^### (.+)$/gm)].map(([, heading]) => heading);
  expect(headings).toEqual(names);
});

test('each section names causes, what to check and what to do', () => {
  const sections = readText(RUNBOOKS).split(/^### /m).slice(1);
  const parts = ['Causes', 'Check', 'Do'];
  const incomplete = sections.flatMap((section) =>
    parts
      .filter((part) => !section.includes(`**${part}.**`))
      .map((part) => `${section.split('\n')[0]}: ${part}`),
  );
  expect(incomplete).toEqual([]);
});

test.each(rules.map((rule) => [rule.alert, rule] as const))(
  '%s has a severity, a summary, a description and the link to its section',
  (alert, { labels, annotations }) => {
    expect(['critical', 'warning']).toContain(labels['severity']);
    expect(Object.keys(annotations).toSorted()).toEqual(['description', 'runbook_url', 'summary']);
    const link = `{{ $externalLabels.runbooks }}${RUNBOOKS}#${alert.toLowerCase()}`;
    expect(annotations['runbook_url']).toBe(link);
  },
);

test('texts use no label that a rule adds, because Prometheus does not know it there', () => {
  const unknown = rules.flatMap(({ alert, labels, annotations }) =>
    Object.keys(labels)
      .filter((label) => JSON.stringify(annotations).includes(`$labels.${label}`))
      .map((label) => `${alert}: ${label}`),
  );
  expect(unknown).toEqual([]);
});

test('the example of Alertmanager names only alerts that exist', () => {
  const text = readText('deploy/prometheus/alertmanager.yml');
  const databases = [...readText('deploy/prometheus/databases.yml').matchAll(/alert: (\w+)/g)];
  const known = new Set([...names, ...databases.map(([, name]) => name)]);
  const named = [...text.matchAll(/alertname=~?"([^"]+)"/g)].flatMap(([, list = '']) => list.split('|'));
  expect(named.filter((name) => !known.has(name))).toEqual([]);
  expect(named.length).toBeGreaterThan(10);
});

test('every duration of the rules can be shortened', () => {
  const { groups } = shortenRules(readRuleFile(), 20);
  expect(JSON.stringify(groups)).not.toMatch(/\d[smhd]\]|offset \d+[smhd]\b|\* 60\b/);
});

test('pnpm prove:alerts has a fault for every alert, and for no other', () => {
  expect(new Set(CAUSES.map(({ alert }) => alert))).toEqual(new Set(names));
});
