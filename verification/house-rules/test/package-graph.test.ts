import { describe, expect, test } from '@jest/globals';
import { findPackageCycle, readPackageGraph } from '../src/package-graph.ts';

describe('the packages of this workspace', () => {
  test('have no cyclic dependencies at run time', () => {
    const graph = readPackageGraph();
    expect(graph.get('@phds/gateway')).toContain('@phds/service-kit');
    expect(findPackageCycle(graph)).toBeNull();
  });
});

describe('findPackageCycle', () => {
  test('names the packages along a cycle', () => {
    const graph = new Map([
      ['cli', ['kit']],
      ['kit', ['tests']],
      ['tests', ['servers', 'kit']],
      ['servers', []],
    ]);
    expect(findPackageCycle(graph)).toEqual(['kit', 'tests', 'kit']);
  });

  test('accepts two paths to one package', () => {
    const graph = new Map([
      ['cli', ['kit', 'database']],
      ['kit', ['database']],
      ['database', []],
    ]);
    expect(findPackageCycle(graph)).toBeNull();
  });
});
