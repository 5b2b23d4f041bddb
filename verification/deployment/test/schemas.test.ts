import { describe, expect, test } from '@jest/globals';
import { describeWith } from '@phds/test-kit/requirements';
import { build, hasKubectl, OVERLAYS } from '../src/kubernetes/builds.ts';
import type { KubernetesObject } from '../src/kubernetes/objects.ts';
import { findSchemaProblems } from '../src/kubernetes/schemas.ts';

describeWith('kubectl', hasKubectl())('the Kubernetes manifests', () => {
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
      ({ kind, metadata }) => kind !== 'Namespace' && metadata.namespace !== 'phds',
    );
    expect(elsewhere).toEqual([]);
  });
});

describe('findSchemaProblems', () => {
  const budget = (spec: object): KubernetesObject =>
    ({
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'x' },
      spec,
    }) as KubernetesObject;

  test('accepts a valid object', () => {
    expect(findSchemaProblems(budget({ maxUnavailable: 1, selector: { matchLabels: { a: 'b' } } }))).toEqual(
      [],
    );
  });

  test('names a field of a wrong type', () => {
    expect(findSchemaProblems(budget({ maxUnavailable: true, selector: {} }))).toContain(
      '/spec/maxUnavailable type {"type":"integer"}',
    );
  });

  test('names unknown fields, at any depth', () => {
    const misspelt = budget({ maxUnavailble: 1, selector: { matchLabel: { a: 'b' } } });
    expect(findSchemaProblems(misspelt)).toEqual([
      '/spec/maxUnavailble is unknown',
      '/spec/selector/matchLabel is unknown',
    ]);
  });

  test('refuses kinds and versions without a schema', () => {
    const old: KubernetesObject = { ...budget({}), apiVersion: 'policy/v1beta1' };
    expect(findSchemaProblems(old)).toEqual(['no schema of policy/v1beta1 PodDisruptionBudget']);
  });
});
