import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { repositoryRoot } from '@phds/house-rules/repository';

const read = (path: string) => readFileSync(join(repositoryRoot, path), 'utf8');
const find = (pattern: string) =>
  globSync(pattern, { cwd: repositoryRoot, exclude: (name) => name.includes('node_modules') });
const { version } = JSON.parse(read('package.json'));

test('all packages and all images of the manifests have the version of the workspace', () => {
  const packages = find('{services,packages,verification}/*/package.json').map(
    (path) => JSON.parse(read(path)).version,
  );
  const tags = find('deploy/kubernetes/**/kustomization.yaml').flatMap((path) =>
    [...read(path).matchAll(/name: phds\/.*newTag: "(.*)"/g)].map(([, tag]) => tag),
  );
  expect([packages.length, tags.length].every((count) => count > 10)).toBe(true);
  expect(new Set([...packages, ...tags])).toEqual(new Set([version]));
});
