import { dirname, join, normalize } from 'node:path/posix';
import { describe, expect, test } from '@jest/globals';
import { findLines, findText, listFiles } from '../src/repository.ts';

const files = listFiles();
const ownTests = /^verification\/house-rules\/test\//;
const code = files.filter((file) => /\.(ts|tsx|js|mjs|cjs)$/.test(file));
const tests = code.filter((file) => /\.(test|browser|proof)\.tsx?$/.test(file) && !ownTests.test(file));
const manifests = files.filter((file) => /(^|\/)package\.json$/.test(file));

describe('project text', () => {
  test('has no test that is disabled or runs exclusively', () => {
    const switched = /\b(it|test|describe)(\.each)?\.(only|skip|todo|failing)\b|\b[xf](it|test|describe)\(/;
    expect(findLines(tests, switched)).toEqual([]);
  });

  test('has no test without a body, which would always pass', () => {
    expect(findLines(tests, /\b(it|test)\(.*\(\) => (undefined|void 0|\{\s*\})\)/)).toEqual([]);
  });

  test('contains no directory of one particular machine', () => {
    const own = /(?<![\w.$}/-])\/(work|root|Users|home\/(?!(node|phds)\b))\/?(?=[\w/])/;
    expect(findLines(readable(files), own)).toEqual([]);
  });

  test('contains no package registry, because the registry depends on the machine', () => {
    const registry =
      /\bregistry\s*=|registry\.(npmjs|yarnpkg)\.|artifactory|nexus\.|verdaccio|\.npmrc.*_auth/i;
    expect(findLines(readable(files), registry)).toEqual([]);
  });

  test('refers in its documents only to files that exist', () => {
    const documents = files.filter((file) => file.endsWith('.md'));
    const missing = documents.flatMap((document) =>
      namedFiles(document)
        .filter((name) => !files.some((file) => file === name || file.endsWith(`/${name}`)))
        .map((name) => `${document}: ${name}`),
    );
    expect(missing).toEqual([]);
  });

  test('links in its documents only to files and headings that exist', () => {
    const broken = files.filter((file) => file.endsWith('.md')).flatMap(brokenLinks);
    expect(broken).toEqual([]);
  });

  test('contains no TODO', () => {
    expect(findLines(readable(files), /\b(TODO|FIXME|XXX|HACK)\b/)).toEqual([]);
  });
});

describe('dependencies', () => {
  test.each(manifests)('%s uses exact versions, the catalog or the workspace', (manifest) => {
    const loose = dependenciesOf(manifest).filter(([, version]) => !isPinned(version));
    expect(loose).toEqual([]);
  });

  test('the versions of the catalog are exact', () => {
    const catalog = (findText('pnpm-workspace.yaml') ?? '').split(/^catalog:\n/m)[1]?.split(/^\S/m)[0] ?? '';
    const versions = [...catalog.matchAll(/^ {2}\S+: (\S+)$/gm)].map((match) => match[1] ?? '');
    expect(versions.length).toBeGreaterThan(0);
    expect(versions.filter((version) => !isExact(version))).toEqual([]);
  });

  test('match the Node version of the workspace, whichever Node installs them', () => {
    const [, fitting] = /^nodeVersion: (\S+)$/m.exec(findText('pnpm-workspace.yaml') ?? '') ?? [];
    const brought = dependenciesOf('package.json').filter(([name]) => name.startsWith('node-linux-'));
    expect(brought.length).toBe(2);
    expect(brought.map(([, version]) => version)).toEqual([fitting, fitting]);
  });
});

describe('services', () => {
  test('read the time from the injected clock', () => {
    const sources = code.filter((file) => /^services\/[^/]+\/src\//.test(file));
    expect(findLines(sources, /\bDate\.now\(|\bnew Date\(\)/)).toEqual([]);
  });

  test('of consent keep every statement in a .sql file', () => {
    const sources = code.filter((file) => file.startsWith('services/consent/src/'));
    expect(findLines(sources, /\b(SELECT|INSERT INTO|DELETE FROM|UPDATE \w+ SET)\b/)).toEqual([]);
  });

  test('use every statement that they keep in a .sql file', () => {
    const sources = files.filter((file) => /^services\/[^/]+\/src\/.*\.(ts|sql)$/.test(file));
    const statements = files.filter((file) => /^services\/[^/]+\/src\/(.+\/)?sql\//.test(file));
    const isUsed = (statement: string) => {
      const [folder = '', name] = statement.split('/sql/');
      const service = folder.split('/').slice(0, 2).join('/');
      const use = name?.startsWith('parts/') ? `-- include: ${name}\n` : `sql/${name}'`;
      return sources.some((file) => file.startsWith(`${service}/`) && findText(file)?.includes(use));
    };
    expect(statements.length).toBeGreaterThan(0);
    expect(statements.filter((statement) => !isUsed(statement))).toEqual([]);
  });
});

/** The scripts, sources and settings that a document refers to, with or without a directory. */
function namedFiles(document: string): string[] {
  const name =
    /(?<![\w/.$*<>{}-])(?:[\w-]+\/)*[\w.-]+\.(?:sql|sh|mjs|cjs|ts|tsx|proto|prisma|yaml|yml)\b(?!\/)/g;
  return [...(findText(document) ?? '').matchAll(name)].map(([text]) => text);
}

/** The links of a document to a file or directory that is missing, or to a heading that a document does not have. */
function brokenLinks(document: string): string[] {
  const text = (findText(document) ?? '').replaceAll(/^```.*?^```/gms, '');
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = '']) => {
    // An address, or a path of a gateway.
    if (/^[a-z]+:|^\//.test(link)) return [];
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? document : normalize(join(dirname(document), path)).replace(/\/$/, '');
    const isThere = files.some((file) => file === target || file.startsWith(`${target}/`));
    const isKnown = anchor === undefined || !target.endsWith('.md') || anchorsOf(target).has(anchor);
    return isThere && isKnown ? [] : [`${document}: ${link}`];
  });
}

/** The anchors of a document's headings, as GitHub makes them. */
function anchorsOf(document: string): Set<string> {
  const text = (findText(document) ?? '').replaceAll(/^```.*?^```/gms, '');
  const headings = [...text.matchAll(/^#+ +(.*)$/gm)].map(([, heading = '']) =>
    heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  );
  const named = [...text.matchAll(/<a (?:id|name)="([^"]+)"/g)].map(([, name = '']) => name);
  return new Set([...headings, ...named]);
}

/** Hand-written files. Excluded are this suite, which contains the searched texts, and the lockfile. */
function readable(all: readonly string[]): string[] {
  return all.filter(
    (file) => !ownTests.test(file) && !/pnpm-lock\.yaml$|\.(png|wasm|ico|svg|ndjson|csv)$/.test(file),
  );
}

function dependenciesOf(manifest: string): [name: string, version: string][] {
  const content = JSON.parse(findText(manifest) ?? '{}') as Record<
    string,
    Record<string, string> | undefined
  >;
  const kinds = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'];
  return kinds.flatMap((kind) => Object.entries(content[kind] ?? {}));
}

function isPinned(version: string): boolean {
  return version === 'workspace:*' || version === 'catalog:' || isExact(version);
}

function isExact(version: string): boolean {
  return /^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version);
}
