import { BlockList, isIPv6 } from 'node:net';
import type { INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import type { INetworkPolicyPeer } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicyPeer';
import type { INetworkPolicyPort } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicyPort';
import {
  configSchema as authorization,
  readEnvironment as readAuthorization,
} from '../../../../services/authorization/src/config.ts';
import {
  configSchema as consent,
  readEnvironment as readConsent,
} from '../../../../services/consent/src/config.ts';
import {
  configSchema as gateway,
  readEnvironment as readGateway,
} from '../../../../services/gateway/src/config.ts';
import {
  configSchema as healthData,
  readEnvironment as readHealthData,
} from '../../../../services/health-data/src/config.ts';

type Labels = Readonly<Record<string, string>>;

/** A pod, of the namespace of the policies unless it names the labels of another. */
export interface Pod {
  readonly name: string;
  readonly labels: Labels;
  /** Container ports by name, to which policies may refer. */
  readonly ports?: Readonly<Record<string, number>>;
  /** The labels of its namespace; absent for the namespace of the policies. */
  readonly namespace?: Labels;
}

/** Something outside of the cluster. */
export interface Host {
  readonly name: string;
  readonly address: string;
}

export type Peer = Pod | Host;

export interface Port {
  readonly protocol: 'TCP' | 'UDP';
  readonly port: number;
}

interface Rule {
  readonly peers: readonly INetworkPolicyPeer[] | undefined;
  readonly ports: readonly INetworkPolicyPort[] | undefined;
}

/** The two ends of a connection. Policies decide at each, and both have to admit it. */
export type End = 'Egress' | 'Ingress';

/**
 * Whether one end of a connection admits it, by the rules of the API: a pod that no policy selects for a direction is open in it, and the
 * rules of all policies that select it add up.
 */
export function isAdmitted(
  policies: readonly INetworkPolicy[],
  end: End,
  from: Peer,
  to: Peer,
  port: Port,
): boolean {
  const [own, other] = end === 'Egress' ? [from, to] : [to, from];
  const rules = rulesFor(policies, own, end);
  return rules === null || rules.some((rule) => matchesPeer(rule, other) && matchesPort(rule, port, to));
}

/** The rules of all policies that select a peer for a direction; null if none does. */
function rulesFor(policies: readonly INetworkPolicy[], peer: Peer, direction: End): Rule[] | null {
  if (!isPod(peer) || peer.namespace !== undefined) return null;
  const selecting = policies.filter(
    ({ spec }) => spec?.policyTypes?.includes(direction) && matchesLabels(spec.podSelector, peer.labels),
  );
  if (selecting.length === 0) return null;
  return selecting.flatMap(({ spec }): Rule[] =>
    direction === 'Ingress'
      ? (spec?.ingress ?? []).map(({ from, ports }) => ({ peers: from, ports }))
      : (spec?.egress ?? []).map(({ to, ports }) => ({ peers: to, ports })),
  );
}

function matchesPeer({ peers }: Rule, other: Peer): boolean {
  // An absent or empty list means everybody.
  if (peers === undefined || peers.length === 0) return true;
  return peers.some((peer) => {
    if (peer.ipBlock !== undefined) return !isPod(other) && isInBlock(peer.ipBlock, other.address);
    if (!isPod(other)) return false;
    const inNamespace =
      peer.namespaceSelector === undefined
        ? other.namespace === undefined
        : matchesLabels(peer.namespaceSelector, other.namespace ?? {});
    return inNamespace && matchesLabels(peer.podSelector, other.labels);
  });
}

function matchesPort({ ports }: Rule, { protocol, port }: Port, to: Peer): boolean {
  if (ports === undefined || ports.length === 0) return true;
  return ports.some((each) => {
    if ((each.protocol ?? 'TCP') !== protocol) return false;
    if (each.port === undefined) return true;
    if (typeof each.port === 'string') return isPod(to) && to.ports?.[each.port] === port;
    return port >= each.port && port <= (each.endPort ?? each.port);
  });
}

type Selector = INetworkPolicyPeer['podSelector'];

function matchesLabels(selector: Selector, labels: Labels): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      if (operator !== 'In') throw new Error(`the operator ${operator} is not evaluated here`);
      return values.includes(labels[key] ?? '');
    })
  );
}

type IpBlock = NonNullable<INetworkPolicyPeer['ipBlock']>;

function isInBlock({ cidr, except = [] }: IpBlock, address: string): boolean {
  return isInNetwork(cidr, address) && !except.some((each) => isInNetwork(each, address));
}

function isInNetwork(cidr: string, address: string): boolean {
  const [network = '', prefix = ''] = cidr.split('/');
  const family = isIPv6(network) ? 'ipv6' : 'ipv4';
  if (family !== (isIPv6(address) ? 'ipv6' : 'ipv4')) return false;
  const list = new BlockList();
  list.addSubnet(network, Number(prefix), family);
  return list.check(address, family);
}

function isPod(peer: Peer): peer is Pod {
  return 'labels' in peer;
}

/** The services, with the schema of their settings. */
export const SERVICES = [
  { service: 'gateway', schema: gateway, readEnvironment: readGateway },
  { service: 'authorization', schema: authorization, readEnvironment: readAuthorization },
  { service: 'consent', schema: consent, readEnvironment: readConsent },
  { service: 'health-data', schema: healthData, readEnvironment: readHealthData },
] as const;
