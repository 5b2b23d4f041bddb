import { expect, test } from '@jest/globals';
import { findLines, findText, listFiles } from '../src/repository.ts';

const files = listFiles();

/** How programs of packages are run, and code that is not in the repository is imported. */
const USES: Readonly<Record<string, RegExp>> = {
  prisma: /`\$\{GENERATORS\}\/prisma`, 'generate'/,
  '@prisma/client': /from '\.\/generated\/|from '\.\.\/store\/generated\//,
  jest: /'(jest|jest\/package\.json|jest\/bin\/jest(\.js)?)'|bin\/jest/,
};

const manifests = files
  .filter((file) => file.endsWith('package.json'))
  .map((file) => JSON.parse(findText(file) ?? '{}'));

const isDependency = (name: string) =>
  manifests.some(({ dependencies, devDependencies }) => name in { ...dependencies, ...devDependencies });

test('no package depends at run time on one that depends on it', () => {
  const left = new Map<string, string[]>(
    manifests.map(({ name, dependencies }) => [name, Object.keys({ ...dependencies })]),
  );
  expect(left.get('@phds/gateway')).toContain('@phds/service-kit');
  // Packages that depend on none of the rest leave, until only cycles and what depends on them are left.
  const isFree = (name: string) => left.get(name)?.every((each) => !left.has(each));
  for (let free = ['']; free.length > 0; free = [...left.keys()].filter(isFree)) {
    for (const name of free) left.delete(name);
  }
  expect([...left.keys()]).toEqual([]);
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
])('%s, which this project is built on, is a dependency and used in %s', (name, where) => {
  const uses = USES[name] ?? new RegExp(`(from|import\\() ?'${name.replaceAll('/', '\\/')}(\\/[^']+)?'`);
  expect(isDependency(name)).toBe(true);
  expect(
    findLines(
      files.filter((file) => file.startsWith(where)),
      uses,
    ),
  ).not.toEqual([]);
});
