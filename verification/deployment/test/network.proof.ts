import { expect, test } from '@jest/globals';
import { describeWith } from '@phds/test-kit/requirements';
import {
  type End,
  type Host,
  isAdmitted,
  type Peer,
  type Pod,
  type Port,
} from '../src/kubernetes/network.ts';
import {
  build,
  containersOf,
  hasKubectl,
  listWorkloads,
  type Overlay,
  ofKind,
  type Workload,
} from '../src/kubernetes/objects.ts';

/** The services, and what they call: the arrows of the architecture. */
const SERVICES = ['gateway', 'authorization', 'consent', 'health-data'];
const CALLS = [
  'gateway → authorization:7001',
  'gateway → consent:7002',
  'gateway → health-data:7003',
  'authorization → consent:7002',
  'health-data → consent:7002',
];

/** The jobs, and what they call. */
const MIGRATIONS = ['migrate-authorization', 'migrate-consent', 'migrate-health-data'];
const COMMANDS = [
  'operator → authorization:7001',
  'operator → consent:7002',
  'operator → health-data:7003',
  'importer → health-data:7003',
];

const COMMAND_JOBS = ['production/command', 'production/import'] as const;

const SCRAPES = ['gateway:7100', 'authorization:7101', 'consent:7102', 'health-data:7103'].map(
  (target) => `prometheus → ${target}`,
);
/** Receivers of webhooks, and hosts with keys of apps. */
const PARTNERS = ['consent', 'authorization'].flatMap((name) => [
  `${name} → internet:any`,
  `${name} → IPv6 internet:any`,
]);
const REDIS = ['gateway → redis:6379', 'consent → redis:6379'];

const resolvesNames = (name: string) => [`${name} → dns:53`, `${name} → dns:53/UDP`];
const reaches = (target: string) => (name: string) => `${name} → ${target}`;

const EXPECTED: Readonly<Record<'production' | 'single-node', readonly string[]>> = {
  production: [
    ...CALLS,
    ...COMMANDS,
    ...SCRAPES,
    ...PARTNERS,
    ...REDIS,
    'ingress controller → gateway:8080',
    ...[...SERVICES, ...MIGRATIONS, 'operator', 'importer'].flatMap(resolvesNames),
    ...SERVICES.map(reaches('identity provider:443')),
    ...['authorization', 'migrate-authorization'].map(reaches('database of authorization:5432')),
    ...['consent', 'migrate-consent', 'operator'].map(reaches('database of consent:5432')),
    ...['health-data', 'migrate-health-data'].map(reaches('database of health-data:5432')),
  ],
  'single-node': [
    ...CALLS,
    ...COMMANDS,
    ...SCRAPES,
    ...PARTNERS,
    ...REDIS,
    ...[...SERVICES, ...MIGRATIONS, 'databases', 'operator', 'importer'].flatMap(resolvesNames),
    ...['authorization', 'consent', 'health-data', ...MIGRATIONS, 'databases', 'operator'].map(
      reaches('postgres:5432'),
    ),
  ],
};

const INTERNET: readonly Host[] = [
  { name: 'internet', address: '8.8.8.8' },
  { name: 'IPv6 internet', address: '2606:4700::1111' },
];

/** The addresses of production/outside.yaml. */
const STANDARD_HOSTS: readonly Host[] = [
  { name: 'database of authorization', address: '192.0.2.11' },
  { name: 'database of consent', address: '192.0.2.12' },
  { name: 'database of health-data', address: '192.0.2.13' },
  { name: 'redis', address: '192.0.2.20' },
  { name: 'identity provider', address: '198.51.100.10' },
];

/** Private, link-local, shared and reserved addresses, which no policy may open. */
const PRIVATE: readonly Host[] = [
  '0.0.0.1',
  '10.1.2.3',
  '100.64.0.1',
  '127.0.0.1',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.0.1',
  '198.18.0.1',
  '203.0.113.1',
  '224.0.0.1',
  '255.255.255.255',
  '::1',
  '::ffff:10.0.0.1',
  '64:ff9b::a00:1',
  'fd00::1',
  'fe80::1',
  'ff02::1',
  '2001::1',
  '2001:db8::1',
  '2002:a00:1::1',
].map((address) => ({ name: address, address }));

const inNamespace = (name: string) => ({ 'kubernetes.io/metadata.name': name });
const named = (name: string) => ({ 'app.kubernetes.io/name': name });

const OTHERS: readonly Pod[] = [
  { name: 'unlabelled pod', labels: {} },
  { name: 'dns', labels: { 'k8s-app': 'kube-dns' }, namespace: inNamespace('kube-system') },
  { name: 'api server', labels: {}, namespace: inNamespace('kube-system') },
  { name: 'prometheus', labels: named('prometheus'), namespace: inNamespace('monitoring') },
  { name: 'grafana', labels: named('grafana'), namespace: inNamespace('monitoring') },
  { name: 'ingress controller', labels: named('ingress-nginx'), namespace: inNamespace('ingress-nginx') },
  { name: 'pod beside the ingress controller', labels: {}, namespace: inNamespace('ingress-nginx') },
  // Labels alone do not admit a pod of another namespace.
  { name: 'gateway elsewhere', labels: named('gateway'), namespace: inNamespace('default') },
  { name: 'prometheus elsewhere', labels: named('prometheus'), namespace: inNamespace('default') },
];

function toPod(workload: Workload): Pod {
  const ports = containersOf(workload).flatMap(({ ports: all = [] }) =>
    all.map(({ name = '', containerPort }) => [name, containerPort] as const),
  );
  const labels = workload.template.metadata?.labels ?? {};
  return {
    name: labels['app.kubernetes.io/name'] ?? workload.name,
    labels,
    ports: Object.fromEntries(ports),
  };
}

interface Peers {
  readonly overlays: readonly Overlay[];
  readonly hosts: readonly Host[];
}

/**
 * The connections that the pods admit at one end, from and to every peer: on the ports of the pods, and on some others. Each end is looked
 * at alone, so that a rule without its counterpart is found, too.
 */
function listAdmitted(end: End, { overlays, hosts }: Peers): string[] {
  const objects = overlays.flatMap(build);
  const policies = ofKind(objects, 'NetworkPolicy');
  const pods = [...listWorkloads(objects).map(toPod), ...OTHERS];
  const known = pods.flatMap(({ ports = {} }) => Object.values(ports));
  const tcp = [...new Set([...known, 22, 53, 80, 443, 5432, 6379, 6443, 7000, 8443, 65_535])];
  const ports: Port[] = [
    ...tcp.map((port) => ({ protocol: 'TCP' as const, port })),
    { protocol: 'UDP', port: 53 },
  ];
  const peers: Peer[] = [...pods, ...hosts];
  const pairs = peers.flatMap((from) => peers.filter((to) => to !== from).map((to) => ({ from, to })));
  return pairs
    .filter(({ from, to }) => isInside(end === 'Egress' ? from : to))
    .flatMap(({ from, to }) => {
      const open = ports.filter((port) => isAdmitted(policies, end, from, to, port)).map(describePort);
      const all = open.length === tcp.length && !open.includes('53/UDP');
      return (all ? ['any'] : open).map((port) => `${from.name} → ${to.name}:${port}`);
    });
}

function isInside(peer: Peer): boolean {
  return 'labels' in peer && peer.namespace === undefined;
}

function describePort({ protocol, port }: Port): string {
  return protocol === 'UDP' ? `${port}/UDP` : String(port);
}

/** The expected connections at one end: those that leave, or those that reach, a pod of the namespace. */
function atEnd(end: End, connections: readonly string[], outside: readonly string[]): string[] {
  return connections.filter((connection) => {
    const [from = '', to = ''] = connection.split(' → ');
    return !outside.includes(end === 'Egress' ? from : (to.split(':')[0] ?? ''));
  });
}

describeWith('kubectl 1.27', hasKubectl())('the network policies', () => {
  const installations = [
    { name: 'production', parts: ['production/migrations', ...COMMAND_JOBS], hosts: STANDARD_HOSTS },
    { name: 'single-node', parts: ['single-node/migrations', ...COMMAND_JOBS], hosts: [] },
  ] as const;
  const cases = installations.flatMap((each) => [
    { ...each, end: 'Egress' as const, what: 'let out' },
    { ...each, end: 'Ingress' as const, what: 'let in' },
  ]);

  test.each(['production', 'single-node'] as const)(
    'of %s have the label by which a release applies them before the services',
    (overlay) => {
      const labels = ofKind(build(overlay), 'NetworkPolicy').map(({ metadata }) => metadata.labels);
      expect(labels).toEqual(
        labels.map(() => expect.objectContaining({ 'app.kubernetes.io/component': 'network' })),
      );
    },
  );

  test.each(cases)(
    'of $name $what exactly the connections of the architecture',
    ({ name, parts, hosts, end }) => {
      const outside = [...INTERNET, ...PRIVATE, ...hosts];
      const elsewhere = OTHERS.filter((pod) => !isInside(pod));
      const admitted = listAdmitted(end, { overlays: [name, ...parts], hosts: outside });
      const expected = atEnd(
        end,
        EXPECTED[name],
        [...outside, ...elsewhere].map((peer) => peer.name),
      );
      expect(expected.length).toBeGreaterThan(0);
      expect(admitted.toSorted()).toEqual(expected.toSorted());
    },
  );
});
