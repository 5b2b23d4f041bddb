import { describe, expect, test } from '@jest/globals';
import type { INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { isAdmitted, type Pod, type Port } from '../src/kubernetes/network.ts';

const caller: Pod = { name: 'caller', labels: { app: 'caller' } };
const callee: Pod = { name: 'callee', labels: { app: 'callee' }, ports: { rpc: 7001 } };
const rpc = { protocol: 'TCP', port: 7001 } as const;

function policy(spec: NonNullable<INetworkPolicy['spec']>): INetworkPolicy {
  return { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', spec };
}

const closed = policy({ podSelector: {}, policyTypes: ['Ingress', 'Egress'] });
const out = policy({
  podSelector: { matchLabels: { app: 'caller' } },
  policyTypes: ['Egress'],
  egress: [{ to: [{ podSelector: { matchLabels: { app: 'callee' } } }], ports: [{ port: 7001 }] }],
});
const into = policy({
  podSelector: { matchLabels: { app: 'callee' } },
  policyTypes: ['Ingress'],
  ingress: [{ from: [{ podSelector: { matchLabels: { app: 'caller' } } }], ports: [{ port: 'rpc' }] }],
});

const leaves = (policies: INetworkPolicy[], port: Port = rpc) =>
  isAdmitted(policies, 'Egress', caller, callee, port);
const arrives = (policies: INetworkPolicy[], from: Pod = caller, to: Pod = callee) =>
  isAdmitted(policies, 'Ingress', from, to, rpc);

describe('isAdmitted', () => {
  test('admits everything without policies, and nothing with an empty one', () => {
    expect([leaves([]), arrives([])]).toEqual([true, true]);
    expect([leaves([closed]), arrives([closed])]).toEqual([false, false]);
  });

  test('adds up the rules of all policies that select the pod at that end', () => {
    expect([leaves([closed, out]), arrives([closed, out])]).toEqual([true, false]);
    expect([leaves([closed, into]), arrives([closed, into])]).toEqual([false, true]);
  });

  test('compares ports by protocol and number, or by the name that the callee gives them', () => {
    expect(leaves([closed, out], { protocol: 'TCP', port: 7101 })).toBe(false);
    expect(leaves([closed, out], { protocol: 'UDP', port: 7001 })).toBe(false);
    expect(arrives([closed, into], caller, { ...callee, ports: {} })).toBe(false);
  });

  test('takes a pod selector without a namespace for pods of the own namespace only', () => {
    expect(arrives([closed, into], { ...caller, namespace: { name: 'other' } })).toBe(false);
  });

  test('takes exceptions out of a block of addresses', () => {
    const web = policy({
      podSelector: {},
      policyTypes: ['Egress'],
      egress: [{ to: [{ ipBlock: { cidr: '0.0.0.0/0', except: ['10.0.0.0/8'] } }] }],
    });
    const reaches = (address: string) => isAdmitted([web], 'Egress', caller, { name: address, address }, rpc);
    expect([reaches('8.8.8.8'), reaches('10.0.0.1'), reaches('2606:4700::1111')]).toEqual([
      true,
      false,
      false,
    ]);
  });
});
