import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { repositoryRoot } from '../src/repository.ts';

/** File contents by path, relative to the root of the tree. */
export type Sources = Readonly<Record<string, string>>;

/** One violation reported by the import rules. */
export interface Complaint {
  readonly rule: string;
  readonly from: string;
}

const npmPackages = ['pg', 'express', '@prisma/client', 'jose', 'left-over'];

const workspaceManifest = (name: string, dependencies: readonly string[]): string =>
  JSON.stringify({
    name: `@phds/${name}`,
    type: 'module',
    exports: { './*': './src/*.ts' },
    dependencies: Object.fromEntries(dependencies.map((dependency) => [dependency, '*'])),
  });

/**
 * A small workspace with the structure of this one. The npm packages have their entry points in `dist`, like many real ones, so
 * that rules which miss such packages are noticed.
 */
const skeleton: Sources = {
  'package.json': JSON.stringify({ name: 'planted', type: 'module' }),
  'packages/catalog/src/scope.ts': 'export const scope = 1;\n',
  'packages/record-chain/src/chain.ts': "import 'node:crypto';\nexport const chain = 1;\n",
  'packages/service-kit/src/errors.ts': 'export const appError = 1;\n',
  'packages/service-kit/src/clock.ts': 'export const clock = 1;\n',
  'packages/service-kit/src/ids.ts': 'export const id = 1;\n',
  'packages/service-kit/src/secrets.ts': 'export const secret = 1;\n',
  'packages/service-kit/src/rpc.ts': 'export const rpc = 1;\n',
  'packages/service-kit/src/postgres/pool.ts': "export { Pool } from 'pg';\n",
  'packages/contracts/src/consent.ts': 'export const ConsentService = 1;\n',
  'verification/test-kit/src/databases.ts': "import '@phds/service-kit/postgres/pool';\n",
  'packages/local-stack/src/users.ts': "import 'express';\nexport const ada = 1;\n",
  'packages/synthetic/src/people.ts': 'export const ada = 1;\n',
  'services/alpha/src/domain/grant.ts':
    "import '@phds/catalog/scope';\nimport '@phds/service-kit/errors';\nexport const grant = 1;\n",
  'services/alpha/src/app/ports.ts':
    "import type { grant } from '../domain/grant.ts';\nexport type Port = typeof grant;\n",
  'services/alpha/src/app/grants.ts':
    "import 'node:crypto';\nimport './ports.ts';\nimport '@phds/record-chain/chain';\nimport '@phds/service-kit/clock';\nimport '@phds/service-kit/ids';\nimport '@phds/service-kit/secrets';\nexport const grants = 1;\n",
  'services/alpha/src/store/prisma-grants.ts':
    "import '@prisma/client';\nimport 'pg';\nimport '../app/ports.ts';\n",
  'services/alpha/src/rpc/handlers.ts':
    "import '../app/grants.ts';\nimport '@phds/service-kit/rpc';\nimport '@phds/contracts/consent';\nimport 'jose';\n",
  'services/alpha/src/service.ts':
    "import 'pg';\nimport './store/prisma-grants.ts';\nimport './rpc/handlers.ts';\n",
  'services/alpha/test/grants.test.ts': "import '@phds/test-kit/databases';\nimport 'pg';\n",
  'services/gateway/src/http/server.ts': "import 'express';\n",
  'verification/bench/src/main.ts': "import '@phds/test-kit/databases';\n",
};

const dependencies: Readonly<Record<string, readonly string[]>> = {
  'packages/catalog': [],
  'packages/record-chain': [],
  'packages/service-kit': ['pg'],
  'packages/contracts': [],
  'verification/test-kit': [],
  'packages/local-stack': ['express'],
  'packages/synthetic': [],
  'services/alpha': ['pg', '@prisma/client', 'jose', 'express'],
  'services/beta': [],
  'services/gateway': ['express'],
};

/** A temporary directory with the skeleton and `planted`, linked like a workspace; removed by `using`. */
export class PlantedTree implements Disposable {
  readonly root = realpathSync(mkdtempSync(path.join(tmpdir(), 'planted-')));

  constructor(planted: Sources) {
    for (const [folder, names] of Object.entries(dependencies)) {
      this.#write(`${folder}/package.json`, workspaceManifest(path.basename(folder), names));
    }
    for (const name of npmPackages) {
      this.#write(`node_modules/${name}/package.json`, JSON.stringify({ name, main: 'dist/index.js' }));
      this.#write(`node_modules/${name}/dist/index.js`, 'module.exports = {};\n');
    }
    for (const [file, source] of Object.entries({ ...skeleton, ...planted })) this.#write(file, source);
    mkdirSync(path.join(this.root, 'node_modules/@phds'));
    for (const folder of Object.keys(dependencies)) {
      symlinkSync(
        path.join(this.root, folder),
        path.join(this.root, 'node_modules/@phds', path.basename(folder)),
      );
    }
  }

  /** The violations that the import rules of this repository report for the tree. */
  async complaints(): Promise<Complaint[]> {
    const output = await runImportRules(this.root);
    const report = JSON.parse(output) as {
      summary: { violations: { rule: { name: string }; from: string }[] };
    };
    return report.summary.violations.map(({ rule, from }) => ({ rule: rule.name, from }));
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }

  #write(file: string, content: string): void {
    const target = path.join(this.root, file);
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(target, content);
  }
}

/** Runs the tool as `pnpm check:imports` does, but in `cwd` and with a machine-readable report. */
function runImportRules(cwd: string): Promise<string> {
  const tool = path.join(repositoryRoot, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs');
  const rules = path.join(repositoryRoot, '.dependency-cruiser.cjs');
  const targets = ['services', 'packages', 'verification'];
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [tool, '--config', rules, '--output-type', 'json', ...targets],
      { cwd, maxBuffer: 64 * 1024 * 1024, env: { ...process.env, NODE_OPTIONS: '' } },
      (error, stdout, stderr) => {
        // The tool's exit code is the number of violations. Only a run without a report has failed.
        if (stdout.startsWith('{')) resolve(stdout);
        else reject(new Error(`dependency-cruiser gave no report: ${stderr}`, { cause: error }));
      },
    );
  });
}
