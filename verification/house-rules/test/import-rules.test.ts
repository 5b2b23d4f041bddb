import { createRequire } from 'node:module';
import path from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { repositoryRoot } from '../src/repository.ts';
import { type Complaint, PlantedTree, type Sources } from './planted-tree.ts';

/** A forbidden import: the rule that forbids it, the importing file, the code, and the imported file. */
type Plant = readonly [rule: string, file: string, code: string, to: string];

const plants: readonly Plant[] = [
  [
    'services-never-import-each-other',
    'services/alpha/src/clients/neighbour.ts',
    "import '../../../beta/src/own.ts';",
    'services/beta/src/own.ts',
  ],
  [
    'services-never-import-each-other',
    'services/alpha/test/neighbour.test.ts',
    "import type { own } from '../../beta/src/own.ts';",
    'services/beta/src/own.ts',
  ],
  [
    'packages-never-import-services',
    'packages/dev-stack/src/shortcut.ts',
    "await import('../../../services/alpha/src/service.ts');",
    'services/alpha/src/service.ts',
  ],
  ['sdk-stands-alone', 'packages/sdk/src/file.ts', "import 'node:fs';", 'fs'],
  ['domain-is-pure', 'services/alpha/src/domain/file.ts', "import 'node:fs';", 'fs'],
  ['domain-is-pure', 'services/alpha/src/domain/npm.ts', "import 'jose';", 'node_modules/jose/dist/index.js'],
  [
    'domain-is-pure',
    'services/alpha/src/domain/now.ts',
    "import type { clock } from '@phds/service-kit/clock';",
    'packages/service-kit/src/clock.ts',
  ],
  [
    'domain-is-pure',
    'services/alpha/src/domain/use-case.ts',
    "export { grants } from '../app/grants.ts';",
    'services/alpha/src/app/grants.ts',
  ],
  [
    'app-sees-only-ports',
    'services/alpha/src/app/proto.ts',
    "import type { ConsentService } from '@phds/contracts/consent';",
    'packages/contracts/src/consent.ts',
  ],
  [
    'app-sees-only-ports',
    'services/alpha/src/app/npm.ts',
    "import 'jose';",
    'node_modules/jose/dist/index.js',
  ],
  [
    'app-sees-only-ports',
    'services/alpha/src/app/kit.ts',
    "import '@phds/service-kit/rpc';",
    'packages/service-kit/src/rpc.ts',
  ],
  [
    'app-sees-only-ports',
    'services/alpha/src/app/adapter.ts',
    "import '../store/prisma-grants.ts';",
    'services/alpha/src/store/prisma-grants.ts',
  ],
  ['app-sees-only-ports', 'services/alpha/src/app/net.ts', "import 'node:http';", 'http'],
  [
    'store-stays-behind-ports',
    'services/alpha/src/rpc/shortcut.ts',
    "import '../store/prisma-grants.ts';",
    'services/alpha/src/store/prisma-grants.ts',
  ],
  [
    'store-stays-behind-ports',
    'services/alpha/src/http/shortcut.ts',
    "export * from '../store/prisma-grants.ts';",
    'services/alpha/src/store/prisma-grants.ts',
  ],
  [
    'store-stays-behind-ports',
    'services/alpha/src/main.ts',
    "import type {} from './store/prisma-grants.ts';",
    'services/alpha/src/store/prisma-grants.ts',
  ],
  [
    'database-only-in-store',
    'services/alpha/src/rpc/query.ts',
    "import { Pool } from 'pg';",
    'node_modules/pg/dist/index.js',
  ],
  [
    'database-only-in-store',
    'services/alpha/src/events/client.ts',
    "import type { PrismaClient } from '@prisma/client';",
    'node_modules/@prisma/client/dist/index.js',
  ],
  [
    'database-only-in-store',
    'packages/service-kit/src/telemetry.ts',
    "import 'pg';",
    'node_modules/pg/dist/index.js',
  ],
  [
    'database-only-in-store',
    'services/gateway/src/adapter.ts',
    "import '@prisma/adapter-pg';",
    '@prisma/adapter-pg',
  ],
  [
    'database-only-in-store',
    'services/alpha/src/rpc/disposal.ts',
    "export async function query() {\n  await using client = (await import('pg')).open();\n  return client;\n}",
    'node_modules/pg/dist/index.js',
  ],
  [
    'express-only-at-the-edge',
    'services/alpha/src/rpc/page.ts',
    "import express from 'express';",
    'node_modules/express/dist/index.js',
  ],
  [
    'express-only-at-the-edge',
    'packages/service-kit/src/metrics.ts',
    "import type { Request } from 'express';",
    'node_modules/express/dist/index.js',
  ],
  [
    'test-code-only-in-tests',
    'services/alpha/src/rpc/kit.ts',
    "import '@phds/test-kit/databases';",
    'verification/test-kit/src/databases.ts',
  ],
  [
    'test-code-only-in-tests',
    'packages/dev-stack/src/sample.ts',
    "import '../../../services/alpha/test/grants.test.ts';",
    'services/alpha/test/grants.test.ts',
  ],
  [
    'no-development-code-in-services',
    'services/alpha/src/events/demo.ts',
    "import { ada } from '@phds/dev-stack/users';",
    'packages/dev-stack/src/users.ts',
  ],
  [
    'synthetic-people-in-the-sandbox-only',
    'services/alpha/src/events/people.ts',
    "import { ada } from '@phds/synthetic/people';",
    'packages/synthetic/src/people.ts',
  ],
  [
    'no-development-code-in-commands',
    'packages/cli/src/stack.ts',
    "import { ada } from '@phds/dev-stack/users';",
    'packages/dev-stack/src/users.ts',
  ],
  [
    'no-development-code-in-commands',
    'packages/cli/src/people.ts',
    "import { ada } from '@phds/synthetic/people';",
    'packages/synthetic/src/people.ts',
  ],
  [
    'catalog-stands-alone',
    'packages/catalog/src/error.ts',
    "import '@phds/service-kit/errors';",
    'packages/service-kit/src/errors.ts',
  ],
  ['catalog-stands-alone', 'packages/catalog/src/hash.ts', "import 'node:crypto';", 'crypto'],
  [
    'no-development-code-in-commands',
    'packages/importers/src/stack.ts',
    "import { ada } from '@phds/dev-stack/users';",
    'packages/dev-stack/src/users.ts',
  ],
  [
    'database-stands-alone',
    'packages/database/src/errors.ts',
    "import '@phds/service-kit/errors';",
    'packages/service-kit/src/errors.ts',
  ],
  [
    'record-chain-is-pure',
    'packages/record-chain/src/source.ts',
    "import '@phds/service-kit/errors';",
    'packages/service-kit/src/errors.ts',
  ],
  [
    'no-cycles',
    'services/alpha/src/domain/egg.ts',
    "import type { Hen } from './hen.ts';\nexport type Egg = { hen: Hen };",
    'services/alpha/src/domain/hen.ts',
  ],
  ['no-unresolvable', 'services/alpha/src/rpc/missing.ts', "import './not-there.ts';", './not-there.ts'],
  ['no-unresolvable', 'services/alpha/src/rpc/ghost.ts', "import 'not-installed';", 'not-installed'],
  [
    'dependencies-are-declared',
    'services/alpha/src/rpc/undeclared.ts',
    "import 'left-over';",
    'node_modules/left-over/dist/index.js',
  ],
];

/** The files that the planted imports refer to, which violate no rule themselves. */
const soil: Sources = {
  'services/beta/src/own.ts': 'export const own = 1;\n',
  'services/alpha/src/domain/hen.ts':
    "import type { Egg } from './egg.ts';\nexport type Hen = { egg: Egg };\n",
};

function plantedSources(): Sources {
  return { ...soil, ...Object.fromEntries(plants.map(([, file, code]) => [file, `${code}\n`])) };
}

function ruleNames(): string[] {
  const load = createRequire(import.meta.url);
  const rules = load(path.join(repositoryRoot, '.dependency-cruiser.cjs')) as {
    forbidden: { name: string }[];
  };
  return rules.forbidden.map(({ name }) => name);
}

describe('import rules', () => {
  let complaints: Complaint[];

  beforeAll(async () => {
    using tree = new PlantedTree(plantedSources());
    complaints = await tree.complaints();
  });

  test.each(plants)('%s refuses the import planted in %s', (rule, from, _code, to) => {
    expect(complaints.filter((complaint) => complaint.from === from)).toContainEqual({ rule, from, to });
  });

  test('every rule has a planted violation', () => {
    expect(new Set(plants.map(([rule]) => rule))).toEqual(new Set(ruleNames()));
  });

  test('the rules report nothing but the planted violations', () => {
    const planted = new Set(plants.map(([, file]) => file));
    expect(complaints.filter(({ from }) => !planted.has(from))).toEqual([]);
  });

  test('the rules report nothing for a correct tree', async () => {
    using tree = new PlantedTree({});
    expect(await tree.complaints()).toEqual([]);
  });
});
