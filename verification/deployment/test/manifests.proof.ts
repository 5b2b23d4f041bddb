import { execFileSync } from 'node:child_process';
import { mkdtempDisposableSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { expect, test } from '@jest/globals';
import { describeWith } from '@phds/test-kit/requirements';
import { parse, parseAllDocuments } from 'yaml';
import {
  build,
  buildDirectory,
  containersOf,
  findSchemaProblems,
  getObject,
  hasKubectl,
  listWorkloads,
  manifests,
  OVERLAYS,
  type Workload,
} from '../src/kubernetes/objects.ts';

describeWith('kubectl 1.27', hasKubectl())('the Kubernetes manifests', () => {
  test.each(OVERLAYS)(
    '%s has only objects that the published schemas accept, without unknown fields',
    (overlay) => {
      const objects = build(overlay);
      expect(objects.length).toBeGreaterThan(0);
      const problems = objects.flatMap((object) =>
        findSchemaProblems(object).map((problem) => `${object.kind} ${object.metadata.name}: ${problem}`),
      );
      expect(problems).toEqual([]);
    },
  );

  test.each(OVERLAYS)('%s has each object once, in the namespace of the service', (overlay) => {
    const objects = build(overlay);
    const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    const elsewhere = objects.filter(
      ({ kind, metadata }) => !['Namespace', 'PriorityClass'].includes(kind) && metadata.namespace !== 'phds',
    );
    expect(elsewhere).toEqual([]);
  });
});

const SERVICES = ['gateway', 'authorization', 'consent', 'health-data'];
const PART = { 'app.kubernetes.io/part-of': 'phds' };

const AMOUNTS = { cpu: expect.anything(), memory: expect.anything() };
const CONFINED = {
  securityContext: {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  },
  resources: { requests: AMOUNTS, limits: AMOUNTS },
};

function expectConfined(workload: Workload): void {
  const { spec, metadata } = workload.template;
  const isStore = metadata?.labels?.['app.kubernetes.io/component'] === 'store';
  // The images of Postgres and Redis have their own user.
  const user = isStore ? 999 : 1000;
  expect(metadata?.labels).toMatchObject(PART);
  expect(spec).toMatchObject({
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: user,
      runAsGroup: user,
      fsGroup: user,
      seccompProfile: { type: 'RuntimeDefault' },
    },
  });
  expect(containersOf(workload)).toMatchObject(containersOf(workload).map(() => CONFINED));
  const modes = (spec?.volumes ?? []).flatMap(({ secret }) => secret?.defaultMode ?? []);
  expect(modes.filter((mode) => mode !== 0o440)).toEqual([]);
}

describeWith('kubectl 1.27', hasKubectl())('the pods of the Kubernetes manifests', () => {
  test.each(OVERLAYS)('of %s run confined, with limits and without access to the API server', (overlay) => {
    const workloads = listWorkloads(build(overlay));
    expect(workloads.length).toBeGreaterThan(0);
    for (const workload of workloads) expectConfined(workload);
  });

  test.each(['production', 'production/migrations', 'production/command'] as const)(
    'of %s take users and groups from OpenShift with its component',
    (overlay) => {
      using directory = mkdtempDisposableSync(join(tmpdir(), 'phds-openshift-'));
      const [base, openshift] = [overlay, 'openshift'].map((name) =>
        relative(realpathSync(directory.path), join(manifests, name)),
      );
      const kustomization = { resources: [base], components: [openshift] };
      writeFileSync(join(directory.path, 'kustomization.yaml'), JSON.stringify(kustomization));
      const workloads = listWorkloads(buildDirectory(directory.path));
      expect(workloads.length).toBeGreaterThan(0);
      for (const { template } of workloads)
        expect(template.spec?.securityContext).toEqual({
          runAsNonRoot: true,
          seccompProfile: { type: 'RuntimeDefault' },
        });
    },
  );
});

describeWith('kubectl 1.27', hasKubectl())('each service in Kubernetes', () => {
  test.each(SERVICES)('%s is replaced without a gap, and has the time to end', (service) => {
    const { spec } = getObject(build('production'), 'Deployment', service);
    const pod = spec?.template.spec;
    const { env = [] } = pod?.containers.find(({ name }) => name === service) ?? {};
    const delay = env.find(({ name }) => name === 'SHUTDOWN_DELAY_MS')?.value;
    expect(spec?.strategy).toMatchObject({ type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0 } });
    // As long as the cluster's DNS may repeat an answer that lacks the new replica (docs/operations/deploy.md#releases).
    expect(spec?.minReadySeconds).toBeGreaterThanOrEqual(30);
    expect(Number(delay)).toBeGreaterThan(1000);
    // After the delay the process ends within 10 s.
    expect(pod?.terminationGracePeriodSeconds).toBeGreaterThan(Number(delay) / 1000 + 10);
  });

  test('follows CPU and a series that the adapter makes a metric, with two replicas or more', () => {
    const adapter = parse(readFileSync(join(manifests, 'monitoring/prometheus-adapter.yaml'), 'utf8'));
    const series = adapter.rules.custom.map(
      ({ seriesQuery }: { seriesQuery: string }) => /^\w+/.exec(seriesQuery)?.[0],
    );
    const found = SERVICES.map((service) => {
      const { spec } = getObject(build('production'), 'HorizontalPodAutoscaler', service);
      expect(spec?.minReplicas).toBeGreaterThanOrEqual(2);
      return spec?.metrics?.map(({ resource, pods }) => resource?.name ?? pods?.metric.name);
    });
    const [ofGateway, ofOthers] = ['phds_http_requests_in_flight', 'phds_rpc_server_in_flight'];
    expect(series).toEqual([ofGateway, ofOthers]);
    expect(found).toEqual(SERVICES.map((name) => ['cpu', name === 'gateway' ? ofGateway : ofOthers]));
  });

  test.each(['production', 'single-node'])(
    'runs images of one release in %s, and pins all others',
    (name) => {
      const parts = OVERLAYS.filter((overlay) => overlay.split('/')[0] === name);
      const images = parts
        .flatMap((part) => listWorkloads(build(part)).flatMap(containersOf))
        .map(({ image = '' }) => image);
      const releaseOf = (image: string) =>
        /(?<=:)(?!latest$)[\w.-]+$|(?<=@)sha256:[0-9a-f]{64}$/.exec(image)?.[0];
      expect(images.filter((image) => releaseOf(image) === undefined)).toEqual([]);
      expect(new Set(images.filter((image) => image.includes('phds/')).map(releaseOf)).size).toBe(1);
    },
  );

  test('sandbox sets the mode for the services that have it, and no other overlay does', () => {
    for (const overlay of OVERLAYS) {
      const maps = build(overlay).filter(({ kind }) => kind === 'ConfigMap') as {
        data?: Record<string, string>;
      }[];
      const modes = maps.flatMap(({ data }) => data?.['SANDBOX'] ?? []);
      expect([overlay, modes]).toEqual([overlay, overlay === 'sandbox' ? ['true', 'true', 'true'] : []]);
    }
  });
});

test('the Prometheus operator scrapes every service with the labels that the alerts expect, and has the same rules', () => {
  const read = (file: string) => readFileSync(join(manifests, file), 'utf8');
  const monitor = parse(read('monitoring/pod-monitor.yaml'));
  expect(findSchemaProblems(monitor)).toEqual([]);
  const { spec } = monitor;
  const [endpoint] = spec.podMetricsEndpoints;
  for (const service of SERVICES) {
    const pod = parseAllDocuments(read(`base/${service}.yaml`))[0]?.toJS().spec.template;
    expect(pod.metadata.labels).toMatchObject(spec.selector.matchLabels);
    const [{ ports }] = pod.spec.containers;
    expect(ports.map(({ name }: { name: string }) => name)).toContain(endpoint.port);
  }
  const [scrape] = parse(read('../prometheus/prometheus-kubernetes.yml')).scrape_configs;
  const rules: Record<string, unknown>[] = scrape.relabel_configs;
  const wanted = rules.filter(({ target_label: label }) => label === 'job' || label === 'instance');
  expect(endpoint.relabelings).toEqual(
    wanted.map(({ source_labels: sourceLabels, target_label: targetLabel, ...rest }) => ({
      sourceLabels,
      targetLabel,
      ...rest,
    })),
  );
  const object = parse(
    execFileSync('sh', [join(manifests, 'monitoring/prometheus-rule.sh')], { encoding: 'utf8' }),
  );
  expect(findSchemaProblems(object)).toEqual([]);
  expect(object).toMatchObject({ kind: 'PrometheusRule', metadata: { namespace: 'phds' } });
  expect(object.spec).toEqual(parse(read('../prometheus/alerts.yml')));
});
