import { BlockList, isIPv6 } from 'node:net';
import { expect, test } from '@jest/globals';
import { describeWith } from '@phds/test-kit/requirements';
import type { INetworkPolicyPeer } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicyPeer';
import type { INetworkPolicyPort } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicyPort';
import type { INetworkPolicySpec } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicySpec';
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

/** Pods of another namespace. */
function podsOf(namespace: string, label: string): string {
  return `kubernetes.io/metadata.name=${namespace}/${label}`;
}

const SCRAPES = ['gateway:7100', 'authorization:7101', 'consent:7102', 'health-data:7103'].map(
  (target) => `${podsOf('monitoring', 'app.kubernetes.io/name=prometheus')} → ${target}`,
);
/** Receivers of webhooks, and hosts with keys of apps. */
const PARTNERS = ['consent', 'authorization'].flatMap((name) => [
  `${name} → public addresses in 0.0.0.0/0:any`,
  `${name} → public addresses in 2000::/3:any`,
]);

const resolvesNames = (name: string) =>
  ['53', '53/UDP'].map((port) => `${name} → ${podsOf('kube-system', 'k8s-app=kube-dns')}:${port}`);
const reaches = (target: string) => (name: string) => `${name} → ${target}`;

// The addresses are those of production/outside.yaml.
const EXPECTED: Readonly<Record<'production' | 'single-node', readonly string[]>> = {
  production: [
    ...CALLS,
    ...COMMANDS,
    ...SCRAPES,
    ...PARTNERS,
    ...['gateway', 'consent'].map(reaches('192.0.2.20/32:6379')),
    `${podsOf('ingress-nginx', 'app.kubernetes.io/name=ingress-nginx')} → gateway:8080`,
    ...[...SERVICES, ...MIGRATIONS, 'operator', 'importer'].flatMap(resolvesNames),
    ...SERVICES.map(reaches('198.51.100.10/32:443')),
    ...['authorization', 'migrate-authorization'].map(reaches('192.0.2.11/32:5432')),
    ...['consent', 'migrate-consent', 'operator'].map(reaches('192.0.2.12/32:5432')),
    ...['health-data', 'migrate-health-data'].map(reaches('192.0.2.13/32:5432')),
  ],
  'single-node': [
    ...CALLS,
    ...COMMANDS,
    ...SCRAPES,
    ...PARTNERS,
    ...['gateway', 'consent'].map(reaches('redis:6379')),
    ...[...SERVICES, ...MIGRATIONS, 'databases', 'operator', 'importer'].flatMap(resolvesNames),
    ...['authorization', 'consent', 'health-data', ...MIGRATIONS, 'databases', 'operator'].map(
      reaches('postgres:5432'),
    ),
  ],
};

/** Private, link-local, shared and reserved addresses, which no policy may open. */
const PRIVATE = [
  ...['0.0.0.1', '10.1.2.3', '100.64.0.1', '127.0.0.1', '169.254.169.254', '172.16.0.1', '172.31.255.255'],
  ...['192.168.0.1', '198.18.0.1', '203.0.113.1', '224.0.0.1', '255.255.255.255', '::1', '::ffff:10.0.0.1'],
  ...['64:ff9b::a00:1', 'fd00::1', 'fe80::1', 'ff02::1', '2001::1', '2001:db8::1', '2002:a00:1::1'],
];

/** Public addresses, most of them beside a private range. */
const PUBLIC = [
  ...['1.0.0.0', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255'],
  ...['128.0.0.0', '169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0', '192.167.255.255'],
  ...['192.169.0.0', '198.17.255.255', '198.20.0.0', '203.0.112.255', '203.0.114.0', '223.255.255.255'],
  ...['2001:4860::8888', '2001:db7::1', '2001:db9::1', '2003::1', '2606:4700::1111', '2a00::1'],
];

type Labels = Readonly<Record<string, string>>;
type Selector = INetworkPolicyPeer['podSelector'];

interface Pod {
  readonly name: string;
  readonly labels: Labels;
  /** Container ports by name, to which policies may refer. */
  readonly ports: Readonly<Record<string, number>>;
}

function toPod(workload: Workload): Pod {
  const { labels = {} } = workload.template.metadata ?? {};
  const ports = containersOf(workload).flatMap(({ ports: all = [] }) =>
    all.map(({ name = '', containerPort }) => [name, containerPort] as const),
  );
  const name = labels['app.kubernetes.io/name'] ?? workload.name;
  return { name, labels, ports: Object.fromEntries(ports) };
}

function isSelected(selector: Selector, { labels }: Pod): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      if (operator !== 'In') throw new Error(`the operator ${operator} is not evaluated here`);
      return values.includes(labels[key] ?? '');
    })
  );
}

/** The peers of a rule by name: pods of the namespace, pods of another one, and addresses. */
function namePeers(peers: readonly INetworkPolicyPeer[] | undefined, pods: readonly Pod[]): string[] {
  // An absent or empty list means everybody.
  if (peers === undefined || peers.length === 0) return ['everybody'];
  return peers.flatMap(({ ipBlock, namespaceSelector, podSelector }) => {
    if (ipBlock !== undefined)
      return ipBlock.except === undefined ? ipBlock.cidr : `public addresses in ${ipBlock.cidr}`;
    if (namespaceSelector === undefined)
      return pods.filter((pod) => isSelected(podSelector, pod)).map(({ name }) => name);
    return [namespaceSelector, podSelector].map(nameSelector).join('/');
  });
}

/** A selector of one label as `key=value`. */
function nameSelector(selector: Selector): string {
  const { matchLabels = {}, ...others } = selector ?? {};
  const labels = Object.entries(matchLabels);
  return labels.length === 1 && Object.keys(others).length === 0
    ? labels.map((label) => label.join('=')).join()
    : JSON.stringify(selector);
}

function namePorts(ports: readonly INetworkPolicyPort[] = [], own: Pod['ports'] = {}): string[] {
  if (ports.length === 0) return ['any, also UDP'];
  return ports.map(({ protocol = 'TCP', port = 'any', endPort }) => {
    const number = typeof port === 'string' ? (own[port] ?? port) : port;
    return `${number}${endPort === undefined ? '' : `-${endPort}`}${protocol === 'TCP' ? '' : `/${protocol}`}`;
  });
}

function readPolicies(overlays: readonly Overlay[]) {
  const objects = overlays.flatMap(build);
  const policies = ofKind(objects, 'NetworkPolicy').map(({ spec }) => spec);
  return { policies, pods: listWorkloads(objects).map(toPod) };
}

const product = (from: readonly string[], to: readonly string[], ports: readonly string[]) =>
  from.flatMap((one) => to.flatMap((other) => ports.map((port) => `${one} → ${other}:${port}`)));

/** The rules that take effect: those of a type that `policyTypes` names. Without it, all do. */
function rulesOf(policy: INetworkPolicySpec | undefined) {
  const { policyTypes = ['Ingress', 'Egress'], ingress = [], egress = [] } = policy ?? {};
  return {
    ingress: policyTypes.includes('Ingress') ? ingress : [],
    egress: policyTypes.includes('Egress') ? egress : [],
  };
}

/**
 * The connections that policies let out of the pods, and into them. Each end is looked at alone, because both have to admit a connection: so a
 * rule without its counterpart is found, too.
 */
function listAdmitted(overlays: readonly Overlay[]): Record<'out' | 'in', string[]> {
  const { policies, pods } = readPolicies(overlays);
  const selected = policies.flatMap((policy) =>
    pods.filter((pod) => isSelected(policy?.podSelector, pod)).map((pod) => ({ policy, pod })),
  );
  const out = selected.flatMap(({ policy, pod }) =>
    rulesOf(policy).egress.flatMap(({ to, ports }) =>
      product([pod.name], namePeers(to, pods), namePorts(ports)),
    ),
  );
  const into = selected.flatMap(({ policy, pod }) =>
    rulesOf(policy).ingress.flatMap(({ from, ports }) =>
      product(namePeers(from, pods), [pod.name], namePorts(ports, pod.ports)),
    ),
  );
  return { out: [...new Set(out)].toSorted(), in: [...new Set(into)].toSorted() };
}

function isOpen({ cidr, except = [] }: { cidr: string; except?: readonly string[] }, address: string) {
  const family = (text: string) => (isIPv6(text) ? 'ipv6' : 'ipv4');
  const isIn = (block: string) => {
    const [network = '', prefix = ''] = block.split('/');
    const list = new BlockList();
    list.addSubnet(network, Number(prefix), family(network));
    return family(network) === family(address) && list.check(address, family(address));
  };
  return isIn(cidr) && !except.some(isIn);
}

describeWith('kubectl 1.27', hasKubectl())('the network policies', () => {
  const installations = [
    ['production', ['production', 'production/migrations', ...COMMAND_JOBS]],
    ['single-node', ['single-node', 'single-node/migrations', ...COMMAND_JOBS]],
  ] as const;

  test.each(['production', 'single-node'] as const)(
    'of %s have the label by which a release applies them before the services',
    (overlay) => {
      const labels = ofKind(build(overlay), 'NetworkPolicy').map(({ metadata }) => metadata.labels);
      expect(labels).toEqual(
        labels.map(() => expect.objectContaining({ 'app.kubernetes.io/component': 'network' })),
      );
    },
  );

  test.each(installations)('of %s admit exactly the connections of the architecture', (name, overlays) => {
    const { policies, pods } = readPolicies(overlays);
    // Without it, a pod that no policy selects would be open.
    expect(policies).toContainEqual({ podSelector: {}, policyTypes: ['Ingress', 'Egress'] });
    const isInside = (end = '') => pods.some((pod) => pod.name === end.split(':')[0]);
    const expected = EXPECTED[name].toSorted();
    expect(listAdmitted(overlays)).toEqual({
      out: expected.filter((connection) => isInside(connection.split(' → ')[0])),
      in: expected.filter((connection) => isInside(connection.split(' → ')[1])),
    });
  });

  test.each(installations)(
    'of %s open public addresses only, and where some are excepted all of these',
    (_name, overlays) => {
      const rules = readPolicies(overlays).policies.flatMap((policy) => rulesOf(policy).egress);
      const blocks = rules.flatMap(({ to = [] }) => to.flatMap(({ ipBlock }) => ipBlock ?? []));
      expect(blocks.length).toBeGreaterThan(1);
      expect(PRIVATE.filter((address) => blocks.some((block) => isOpen(block, address)))).toEqual([]);
      for (const block of blocks.filter(({ except }) => except !== undefined)) {
        const expected = PUBLIC.filter((address) => isIPv6(address) === block.cidr.includes(':'));
        expect(expected.filter((address) => isOpen(block, address))).toEqual(expected);
      }
    },
  );
});
