import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempDisposableSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { expect, test } from '@jest/globals';
import { repositoryRoot } from '@phds/house-rules/repository';
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
  ofKind,
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
const labelsOf = (service: string) => ({ 'app.kubernetes.io/name': service, ...PART });

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

  test.each(['production', 'single-node'] as const)(
    'of %s use images of one release, named by tag or digest',
    (name) => {
      const parts = OVERLAYS.filter((overlay) => overlay.split('/')[0] === name);
      const images = parts.flatMap((part) =>
        listWorkloads(build(part)).flatMap((workload) =>
          containersOf(workload).map(({ image = '' }) => image),
        ),
      );
      const own = images.filter((image) => image.includes('phds/'));
      const releases = own.map(
        (image) => /(?<=:)(?!latest$)[\w.-]+$|(?<=@)sha256:[0-9a-f]{64}$/.exec(image)?.[0],
      );
      expect(new Set(releases).size).toBe(1);
      expect(releases[0]).toBeDefined();
      for (const image of images) expect(image).toMatch(/:(?!latest$)[\w.-]+$|@sha256:[0-9a-f]{64}$/);
    },
  );

  test.each(['production/migrations', 'single-node/migrations'] as const)(
    'of %s run one migration for each schema, named by its release',
    (name) => {
      const jobs = ofKind(build(name), 'Job').filter(({ metadata }) => metadata.name.startsWith('migrate-'));
      const runs = jobs.map(({ metadata, spec }) => {
        const { image = '', args = [] } = spec?.template.spec?.containers[0] ?? {};
        const release = image.split(':').at(-1)?.replaceAll('.', '-') ?? '';
        return [metadata.name.replace(release, 'RELEASE'), ...args].join(' ');
      });
      expect(runs.toSorted()).toEqual(
        ['authorization', 'consent', 'health-data'].map(
          (service) => `migrate-${service}-RELEASE packages/service-kit/bin/migrate.ts ${service}`,
        ),
      );
    },
  );

  test('of a migration are not repeated after a failure, and have an hour', () => {
    for (const { spec } of ofKind(build('production/migrations'), 'Job')) {
      expect(spec).toMatchObject({ backoffLimit: 0, activeDeadlineSeconds: 3600 });
      expect(spec?.podFailurePolicy?.rules).toEqual([
        { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] },
      ]);
    }
  });

  test.each(['operator', 'evaluation'])('with the image %s run only programs that it contains', (image) => {
    const recipe = readFileSync(join(repositoryRoot, 'deploy/Dockerfile'), 'utf8')
      .split(`FROM workspace AS ${image}-files`)[1]
      ?.split('\nFROM ')[0];
    const collected = /collect\.sh \/out ((?:packages\/[\w-]+ ?)+)/
      .exec(recipe ?? '')?.[1]
      ?.trim()
      .split(' ');
    const containers = OVERLAYS.flatMap((overlay) => listWorkloads(build(overlay)).flatMap(containersOf));
    const programs = containers
      .filter((container) => container.image?.includes(`phds/${image}:`))
      .map(({ args = [] }) => args[0] ?? '');
    expect(programs.length).toBeGreaterThan(1);
    for (const program of programs) {
      expect([program, existsSync(join(repositoryRoot, program))]).toEqual([program, true]);
      expect(collected).toContain(program.split('/').slice(0, 2).join('/'));
    }
  });
});

describeWith('kubectl 1.27', hasKubectl())('each service in Kubernetes', () => {
  const cases = ['production', 'single-node'].flatMap((overlay) =>
    SERVICES.map((service) => ({ overlay: overlay as 'production' | 'single-node', service })),
  );

  test.each(cases)(
    '$service of $overlay is probed, spread, and replaced without a gap',
    ({ overlay, service }) => {
      const deployment = getObject(build(overlay), 'Deployment', service);
      const { spec } = deployment;
      const pod = spec?.template.spec;
      const container = pod?.containers.find(({ name }) => name === service);
      const probe = (path: string) => ({ httpGet: { path, port: 'probes' } });
      expect(spec?.selector).toEqual({ matchLabels: labelsOf(service) });
      expect(pod?.priorityClassName).toBe('phds');
      expect(spec?.template.metadata?.labels).toMatchObject(labelsOf(service));
      expect(spec?.strategy).toEqual({
        type: 'RollingUpdate',
        rollingUpdate: { maxUnavailable: 0, maxSurge: 1 },
      });
      // As long as the cluster's DNS may repeat an answer that lacks the new replica (docs/operations/deploy.md#kubernetes).
      expect(spec?.minReadySeconds).toBeGreaterThanOrEqual(30);
      expect(spec?.progressDeadlineSeconds).toBeGreaterThan(Number(spec?.minReadySeconds));
      expect(container).toMatchObject({
        startupProbe: probe('/livez'),
        livenessProbe: probe('/livez'),
        readinessProbe: probe('/readyz'),
      });
      const delay = container?.env?.find(({ name }) => name === 'SHUTDOWN_DELAY_MS')?.value;
      expect(Number(delay)).toBeGreaterThan(1000);
      // After the delay the process ends within 10 s.
      expect(pod?.terminationGracePeriodSeconds).toBeGreaterThan(Number(delay) / 1000 + 10);
      const spread = { maxSkew: 1, labelSelector: { matchLabels: labelsOf(service) } };
      expect(pod?.topologySpreadConstraints).toMatchObject([
        {
          ...spread,
          topologyKey: 'kubernetes.io/hostname',
          whenUnsatisfiable: 'DoNotSchedule',
          nodeTaintsPolicy: 'Honor',
        },
        { ...spread, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'ScheduleAnyway' },
      ]);
    },
  );

  test.each(SERVICES)(
    '%s of production has two replicas or more, as many as load needs, and loses one at a time',
    (service) => {
      const objects = build('production');
      expect(getObject(objects, 'Deployment', service).spec?.replicas).toBeUndefined();
      const { spec: scaling } = getObject(objects, 'HorizontalPodAutoscaler', service);
      expect(scaling?.scaleTargetRef).toEqual({ apiVersion: 'apps/v1', kind: 'Deployment', name: service });
      expect(scaling?.minReplicas).toBeGreaterThanOrEqual(2);
      expect(scaling?.maxReplicas).toBeGreaterThan(2);
      const metric = service === 'gateway' ? 'phds_http_requests_in_flight' : 'phds_rpc_server_in_flight';
      expect(scaling?.metrics).toMatchObject([
        { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization' } } },
        { type: 'Pods', pods: { metric: { name: metric }, target: { type: 'AverageValue' } } },
      ]);
      expect(getObject(objects, 'PodDisruptionBudget', service).spec).toMatchObject({
        maxUnavailable: 1,
        selector: { matchLabels: labelsOf(service) },
      });
    },
  );

  test.each(SERVICES)('%s of single-node has one replica', (service) => {
    expect(getObject(build('single-node'), 'Deployment', service).spec?.replicas).toBe(1);
  });

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

test('the adapter makes a metric of pods of each series that an autoscaler names', () => {
  const adapter = parse(readFileSync(join(manifests, 'monitoring/prometheus-adapter.yaml'), 'utf8')) as {
    rules: { custom: { seriesQuery: string; resources: { overrides: object } }[] };
  };
  const { custom } = adapter.rules;
  expect(custom.map(({ seriesQuery }) => /^\w+/.exec(seriesQuery)?.[0]).toSorted()).toEqual([
    'phds_http_requests_in_flight',
    'phds_rpc_server_in_flight',
  ]);
  const scraping = parse(
    readFileSync(join(manifests, '../prometheus/prometheus-kubernetes.yml'), 'utf8'),
  ) as {
    scrape_configs: { relabel_configs: { target_label?: string }[] }[];
  };
  const labels = scraping.scrape_configs[0]?.relabel_configs.map(({ target_label: label }) => label);
  for (const { resources } of custom)
    expect(labels).toEqual(expect.arrayContaining(Object.keys(resources.overrides)));
});
