import { expect, test } from '@jest/globals';
import {
  listExpressions,
  listGroupings,
  listUses,
  readDashboards,
  type Use,
} from '@phds/deployment/alerts/dashboards';
import { listAlertRules, listRecordingRules, readRuleFile } from '@phds/deployment/alerts/rule-files';
import { giveFirstReadings } from '@phds/running-system/ingestion';
import { expectStatus, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { useSharedStack } from '@phds/running-system/shared-stack';
import { type Scrape, scrape } from '@phds/test-kit/scrape';

/** Prometheus adds these labels, and these series. */
const LABELS_OF_PROMETHEUS = ['job', 'instance'];
const SERIES_OF_PROMETHEUS = ['up', 'ALERTS'];
const HEART = 'read:health-data:heart';

const ruleFile = readRuleFile();
const recorded = new Map(listRecordingRules(ruleFile).map(({ record, expr }) => [record, expr]));
const expressions = new Map<string, readonly string[]>([
  ['alerts.yml', [...recorded.values(), ...listAlertRules(ruleFile).map(({ expr }) => expr)]],
  ...readDashboards().map(([file, dashboard]) => [file, listExpressions(dashboard)] as const),
]);

const stack = await useSharedStack();
const session = await signIn(stack, 'person-of-metrics');
await giveFirstReadings(stack, ['person-of-metrics']);
const app = await registerApp(stack.gateway, session);
const { accessToken, grantId } = await app.connect(session, [HEART]);
for (const _ of ['found at authorization', 'found in the cache']) {
  expectStatus(200, await app.read(accessToken, '/api/v1/health-data/heart'));
}
expectStatus(200, await app.revoke(accessToken));
expectStatus(401, await app.read(accessToken, '/api/v1/health-data/heart'));
expect(grantId).not.toBe('');
const ports = [...Object.values(stack.probeUrls), ...stack.gatewayProbeUrls];
const scrapes = await Promise.all(ports.map((url) => scrape(url)));

/** The name under which a metric is declared. Histograms have samples with suffixes. */
function isExported({ declarations }: Scrape, metric: string): boolean {
  const histogram = metric.replace(/_(bucket|sum|count)$/, '');
  const type = declarations.get(histogram)?.type;
  return declarations.has(metric) || type === 'histogram' || type === 'summary';
}

function isKnown({ metric }: Use): boolean {
  return (
    recorded.has(metric) ||
    SERIES_OF_PROMETHEUS.includes(metric) ||
    scrapes.some((each) => isExported(each, metric))
  );
}

const samplesOf = (metric: string) =>
  scrapes.flatMap(({ samples }) => samples.filter(({ name }) => name === metric));

/** The labels of a metric's series; null for a metric without any, such as a counter of what has not happened. */
function findLabels(metric: string): string[] | null {
  const rule = recorded.get(metric);
  if (rule !== undefined) return listGroupings(rule);
  if (SERIES_OF_PROMETHEUS.includes(metric)) return ['alertname'];
  const samples = samplesOf(metric);
  return samples.length === 0 ? null : [...new Set(samples.flatMap(({ labels }) => Object.keys(labels)))];
}

test.each([...expressions])('every metric of %s exists in a scrape of the running stack', (_file, ofFile) => {
  const missing = ofFile.flatMap(listUses).filter((use) => !isKnown(use));
  expect([...new Set(missing.map(({ metric }) => metric))]).toEqual([]);
});

test.each([...expressions])(
  'every label that %s matches or groups by exists on its metric',
  (_file, ofFile) => {
    const wrong = ofFile.flatMap((expr) => {
      const uses = listUses(expr).map((use) => ({ ...use, own: findLabels(use.metric) }));
      const matched = uses.flatMap(({ metric, labels, own }) =>
        own === null
          ? []
          : labels.filter((label) => !isLabel(label, own)).map((label) => `${metric}{${label}}`),
      );
      if (uses.some(({ own }) => own === null)) return matched;
      const all = uses.flatMap(({ own }) => own ?? []);
      const grouped = listGroupings(expr).filter((label) => !isLabel(label, all));
      return [...matched, ...grouped.map((label) => `${label} in ${expr}`)];
    });
    expect(wrong).toEqual([]);
  },
);

test.each([...expressions])('every label has the values that %s compares it with', (_file, ofFile) => {
  const wrong = ofFile.flatMap(listUses).flatMap(({ metric, equals }) => {
    const samples = samplesOf(metric);
    const own = Object.entries(equals).filter(([label]) => !LABELS_OF_PROMETHEUS.includes(label));
    return own
      .filter(
        ([label, value]) => samples.length > 0 && !samples.some(({ labels }) => labels[label] === value),
      )
      .map(([label, value]) => `${metric}{${label}="${value}"}`);
  });
  expect(wrong).toEqual([]);
});

function isLabel(label: string, own: readonly string[]): boolean {
  return own.includes(label) || LABELS_OF_PROMETHEUS.includes(label);
}
