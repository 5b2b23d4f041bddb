/** Forbidden imports: the code of files by their path, by the rule that forbids it. At least one for each rule. */
export const plants: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'services-never-import-each-other': {
    'services/alpha/src/clients/neighbour.ts': "import '../../../beta/src/own.ts';",
    'services/alpha/test/neighbour.test.ts': "import type { own } from '../../beta/src/own.ts';",
  },
  'packages-never-import-services': {
    'packages/local-stack/src/shortcut.ts': "await import('../../../services/alpha/src/service.ts');",
  },
  'sdk-stands-alone': {
    'packages/sdk/src/file.ts': "import 'node:fs';",
  },
  'domain-is-pure': {
    'services/alpha/src/domain/file.ts': "import 'node:fs';",
    'services/alpha/src/webhooks/domain/file.ts': "import 'node:fs';",
    'services/alpha/src/domain/npm.ts': "import 'jose';",
    'services/alpha/src/domain/now.ts': "import type { clock } from '@phds/service-kit/clock';",
    'services/alpha/src/domain/use-case.ts': "export { grants } from '../app/grants.ts';",
  },
  'app-sees-only-ports': {
    'services/alpha/src/app/proto.ts': "import type { ConsentService } from '@phds/contracts/consent';",
    'services/alpha/src/app/npm.ts': "import 'jose';",
    'services/alpha/src/app/kit.ts': "import '@phds/service-kit/rpc';",
    'services/alpha/src/app/adapter.ts': "import '../store/prisma-grants.ts';",
    'services/alpha/src/app/net.ts': "import 'node:http';",
  },
  'store-stays-behind-ports': {
    'services/alpha/src/rpc/shortcut.ts': "import '../store/prisma-grants.ts';",
    'services/alpha/src/http/shortcut.ts': "export * from '../store/prisma-grants.ts';",
    'services/alpha/src/main.ts': "import type {} from './store/prisma-grants.ts';",
  },
  'database-only-in-store': {
    'services/alpha/src/rpc/query.ts': "import { Pool } from 'pg';",
    'services/alpha/src/events/client.ts': "import type { PrismaClient } from '@prisma/client';",
    'packages/service-kit/src/telemetry.ts': "import 'pg';",
    'services/gateway/src/adapter.ts': "import '@prisma/adapter-pg';",
    'services/alpha/src/rpc/disposal.ts':
      "export async function query() {\n  await using client = (await import('pg')).open();\n  return client;\n}",
  },
  'tracing-sdk-only-when-on': {
    'packages/service-kit/src/spans.ts': "import '@opentelemetry/sdk-trace';",
  },
  'express-only-at-the-edge': {
    'services/alpha/src/rpc/page.ts': "import express from 'express';",
    'packages/service-kit/src/metrics.ts': "import type { Request } from 'express';",
  },
  'test-code-only-in-tests': {
    'services/alpha/src/rpc/kit.ts': "import '@phds/test-kit/databases';",
    'packages/local-stack/src/sample.ts': "import '../../../services/alpha/test/grants.test.ts';",
  },
  'no-development-code-in-services': {
    'services/alpha/src/events/demo.ts': "import { ada } from '@phds/local-stack/users';",
  },
  'synthetic-people-in-the-sandbox-only': {
    'services/alpha/src/events/people.ts': "import { ada } from '@phds/synthetic/people';",
  },
  'no-development-code-in-commands': {
    'packages/cli/src/stack.ts': "import { ada } from '@phds/local-stack/users';",
    'packages/cli/src/people.ts': "import { ada } from '@phds/synthetic/people';",
  },
  'catalog-stands-alone': {
    'packages/catalog/src/error.ts': "import '@phds/service-kit/errors';",
    'packages/catalog/src/hash.ts': "import 'node:crypto';",
  },
  'record-chain-is-pure': {
    'packages/record-chain/src/source.ts': "import '@phds/service-kit/errors';",
  },
  'no-cycles': {
    'services/alpha/src/domain/egg.ts':
      "import type { Hen } from './hen.ts';\nexport type Egg = { hen: Hen };",
  },
  'no-unresolvable': {
    'services/alpha/src/rpc/missing.ts': "import './not-there.ts';",
    'services/alpha/src/rpc/ghost.ts': "import 'not-installed';",
  },
  'dependencies-are-declared': {
    'services/alpha/src/rpc/undeclared.ts': "import 'left-over';",
  },
};
