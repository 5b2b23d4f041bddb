import { describe, expect, test } from '@jest/globals';
import { findPackageCycle, findUsers, readPackageGraph } from '../src/package-graph.ts';

describe('the packages of this workspace', () => {
  test('have no cyclic dependencies at run time', () => {
    const graph = readPackageGraph();
    expect(graph.get('@phds/gateway')).toContain('@phds/service-kit');
    expect(findPackageCycle(graph)).toBeNull();
  });
});

test.each([
  ['@grpc/grpc-js', 'packages/service-kit/src/'],
  ['@bufbuild/protobuf', 'packages/service-kit/src/'],
  ['@connectrpc/connect', 'packages/service-kit/src/'],
  ['@connectrpc/connect-node', 'packages/service-kit/src/'],
  ['express', 'services/gateway/src/'],
  // The models that it generates; only a program can run it.
  ['prisma', 'packages/local-stack/bin/'],
  ['@prisma/client', 'services/authorization/src/'],
  ['ioredis', 'packages/service-kit/src/'],
  ['jose', 'packages/service-kit/src/'],
  ['pino', 'packages/service-kit/src/'],
  ['jest', 'verification/test-kit/'],
  ['testcontainers', 'verification/test-kit/src/'],
])(
  '%s, which this project is built on, is a dependency of something that runs and used in %s',
  (name, where) => {
    expect(findUsers(name, where)).not.toEqual([]);
  },
);

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
});
