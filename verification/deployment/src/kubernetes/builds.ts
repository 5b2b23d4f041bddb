import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { repositoryRoot } from '@phds/house-rules/repository';
import { parseAllDocuments } from 'yaml';
import type { KubernetesObject } from './objects.ts';

/** The directories of deploy/kubernetes that are applied. */
export const OVERLAYS = [
  'single-node',
  'single-node/migrations',
  'production',
  'production/migrations',
  'production/command',
] as const;

export type Overlay = (typeof OVERLAYS)[number];

/** The directory of the manifests. */
export const manifests = join(repositoryRoot, 'deploy/kubernetes');

/** Whether this machine can build manifests. */
export function hasKubectl(): boolean {
  try {
    execFileSync('kubectl', ['version', '--client'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const built = new Map<Overlay, readonly KubernetesObject[]>();

/** The objects of an overlay, built once as `kubectl apply --kustomize` does. */
export function build(overlay: Overlay): readonly KubernetesObject[] {
  const known = built.get(overlay);
  if (known !== undefined) return known;
  // Newer versions warn on standard error that `bases` is deprecated. The text of an error is part of the exception.
  const output = execFileSync('kubectl', ['kustomize', join(manifests, overlay)], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const objects = parseAllDocuments(output).map((document) => document.toJS() as KubernetesObject);
  built.set(overlay, objects);
  return objects;
}
