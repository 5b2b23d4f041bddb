import { readFileSync } from 'node:fs';
import path from 'node:path';
import { findLines, listFiles, repositoryRoot } from './repository.ts';

/** The workspace packages that each package needs at run time, by name. Those that only its tests need are left out. */
export type PackageGraph = ReadonlyMap<string, readonly string[]>;

/** Reads the graph from the package.json files of this workspace. */
export function readPackageGraph(): PackageGraph {
  const manifests = listFiles()
    .filter((file) => /^(services|packages|verification)\/[^/]+\/package\.json$/.test(file))
    .map((file) => JSON.parse(readFileSync(path.join(repositoryRoot, file), 'utf8')));
  const names = new Set<string>(manifests.map(({ name }) => name));
  return new Map(
    manifests.map(({ name, dependencies }) => [
      name,
      Object.keys({ ...dependencies }).filter((each) => names.has(each)),
    ]),
  );
}

/** A cycle as the list of its names, with the first one repeated at the end; null if there is none. */
export function findPackageCycle(graph: PackageGraph): string[] | null {
  const finished = new Set<string>();
  const visit = (name: string, trail: readonly string[]): string[] | null => {
    if (trail.includes(name)) return [...trail.slice(trail.indexOf(name)), name];
    if (finished.has(name)) return null;
    for (const next of graph.get(name) ?? []) {
      const cycle = visit(next, [...trail, name]);
      if (cycle !== null) return cycle;
    }
    finished.add(name);
    return null;
  };
  for (const name of graph.keys()) {
    const cycle = visit(name, []);
    if (cycle !== null) return cycle;
  }
  return null;
}

/** How programs of packages are run, and code that is not in the repository is imported. */
const USES: Readonly<Record<string, RegExp>> = {
  prisma: /`\$\{GENERATORS\}\/prisma`, 'generate'/,
  '@prisma/client': /from '\.\/generated\/|from '\.\.\/store\/generated\//,
  jest: /'(jest|jest\/package\.json|jest\/bin\/jest(\.js)?)'|bin\/jest/,
};

/** The lines under a directory that use a package; none if no manifest of the workspace has it as a dependency. */
export function findUsers(name: string, where: string): string[] {
  const files = listFiles();
  const hasIt = files
    .filter((file) => file.endsWith('package.json'))
    .map((file) => JSON.parse(readFileSync(path.join(repositoryRoot, file), 'utf8')))
    .some(({ dependencies, devDependencies }) => name in { ...dependencies, ...devDependencies });
  const escaped = name.replaceAll('/', '\\/');
  const uses = USES[name] ?? new RegExp(`(from|import\\() ?'${escaped}(\\/[^']+)?'`);
  return hasIt
    ? findLines(
        files.filter((file) => file.startsWith(where)),
        uses,
      )
    : [];
}
