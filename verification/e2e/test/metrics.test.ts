import { describe, expect, test } from '@jest/globals';
import { measureProbe } from '@phds/cli/commands/probe';
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
import { send } from '@phds/running-system/request';
import { useSharedStack } from '@phds/running-system/shared-stack';
import { newId } from '@phds/service-kit/ids';
import { closeHttp, createProbeServer, listenHttp } from '@phds/service-kit/probes';
import { Metrics } from '@phds/service-kit/telemetry/metrics';
import { type Scrape, scrape } from '@phds/test-kit/scrape';
import { type DocumentedMetric, readMetricsTable } from '../src/metrics-table.ts';

/** Prometheus adds these labels, and these series. */
const LABELS_OF_PROMETHEUS = ['job', 'instance'];
const SERIES_OF_PROMETHEUS = ['up', 'ALERTS'];
const HEART = '/api/v1/health-data/heart';
const PERSON = newId('metrics');
const UNKNOWN_PATH = `/${newId('path')}`;
const UNKNOWN_TOKEN = `phds_at_${newId('x').slice(2)}${'0'.repeat(40)}`.slice(0, 51);

const ruleFile = readRuleFile();
const recorded = new Map(listRecordingRules(ruleFile).map(({ record, expr }) => [record, expr]));
const expressions = new Map<string, readonly string[]>([
  ['alerts.yml', [...recorded.values(), ...listAlertRules(ruleFile).map(({ expr }) => expr)]],
  ...readDashboards().map(([file, dashboard]) => [file, listExpressions(dashboard)] as const),
]);

const stack = await useSharedStack();
const session = await signIn(stack, PERSON);
await giveFirstReadings(stack, [PERSON]);
const app = await registerApp(stack.gateway, session);
const tokens = await app.connect(session, ['read:health-data:heart']);
const read = (token: string) => app.read(token, HEART);
const first = expectStatus(200, await read(tokens.accessToken));
// Found in the cache.
expectStatus(200, await read(tokens.accessToken));
expectStatus(401, await read(UNKNOWN_TOKEN));
expectStatus(404, await send(stack.gateway + UNKNOWN_PATH));
expectStatus(200, await app.revoke(tokens.accessToken));
expectStatus(401, await read(tokens.accessToken));
const scrapes = {
  gateway: await scrape(stack.gatewayProbeUrls[0] ?? ''),
  authorization: await scrape(stack.probeUrls.authorization),
  consent: await scrape(stack.probeUrls.consent),
  'health-data': await scrape(stack.probeUrls['health-data']),
};
const probeMetrics = new Metrics({ service: 'probe' });
measureProbe(probeMetrics);
const probeServer = createProbeServer({ isReady: async () => true, metrics: probeMetrics });
const probe = await scrape(`http://127.0.0.1:${await listenHttp(probeServer, '127.0.0.1', 0)}`);
await closeHttp(probeServer);
const all = [...Object.values(scrapes), probe];

describe('a scrape', () => {
  const documented = readMetricsTable();
  const toRow = ({ name, type }: Pick<DocumentedMetric, 'name' | 'type'>) => `${name} ${type}`;

  test.each(Object.entries(scrapes))(
    'of %s has exactly the metrics of the table, and those of its process',
    (service, { declarations }) => {
      const own = [...declarations].filter(([name]) => name.startsWith('phds_'));
      const expected = documented.filter(({ services }) => services.includes(service));
      const scraped = own.map(([name, { type }]) => toRow({ name, type }));
      // A metric that depends on a setting is in the scrape only with it.
      const missing = expected.filter((metric) => metric.needs === null && !scraped.includes(toRow(metric)));
      expect(missing).toEqual([]);
      expect(scraped.filter((row) => !expected.map(toRow).includes(row))).toEqual([]);
      expect([...declarations.keys()]).toEqual(
        expect.arrayContaining(['process_cpu_seconds_total', 'nodejs_eventloop_lag_p99_seconds']),
      );
    },
  );

  test('has the labels of the table, and no other', () => {
    const labelsOf = new Map(documented.map(({ name, labels }) => [name, labels]));
    for (const { samples } of all) {
      for (const { name, labels } of samples) {
        if (!name.startsWith('phds_')) continue;
        const metric = labelsOf.has(name) ? name : name.replace(/_(bucket|sum|count)$/, '');
        const { le: _, ...own } = labels;
        expect([metric, Object.keys(own).toSorted()]).toEqual([metric, labelsOf.get(metric)?.toSorted()]);
      }
    }
  });

  test('has no id of a person, an app, a grant, a token or a request, and no path', () => {
    const secrets = [tokens.accessToken, tokens.refreshToken, app.clientSecret, session, UNKNOWN_TOKEN];
    const requestId = first.headers.get('x-request-id') ?? '';
    const ids = [PERSON, app.clientId, tokens.grantId, requestId, UNKNOWN_PATH.slice(1)];
    expect([...secrets, ...ids]).not.toContain('');
    for (const { text } of all) {
      for (const known of [...secrets, ...ids]) expect(text).not.toContain(known);
      expect(text).not.toMatch(/(app|grt|fam|req|evt)_[0-9A-Za-z]{16}|phds_(cs|ac|at|rt)_[0-9A-Za-z]{8}/);
    }
  });
});

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
    all.some((each) => isExported(each, metric))
  );
}

const samplesOf = (metric: string) =>
  all.flatMap(({ samples }) => samples.filter(({ name }) => name === metric));

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
      const known = uses.flatMap(({ own }) => own ?? []);
      const grouped = listGroupings(expr).filter((label) => !isLabel(label, known));
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
