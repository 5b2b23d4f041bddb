import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { RpcGuard, RpcService } from '../../../packages/service-kit/src/rpc/service.ts';
import { SERVICE_ROLES } from '../../../packages/service-kit/src/trust/callers.ts';
import { createTokenService } from '../../../services/authorization/src/rpc/token-service.ts';
import { createAccessService } from '../../../services/consent/src/access/access-service.ts';
import { createGrantService } from '../../../services/consent/src/grant-service.ts';
import { createIngestionService } from '../../../services/health-data/src/rpc/ingestion-service.ts';
import { repositoryRoot } from '../src/repository.ts';

type Factory = (parts: never) => (guard: RpcGuard) => RpcService;

const nothing = () => ({});
const TOKEN_RPCS = {
  issueToken: nothing,
  introspectOwnToken: nothing,
  introspect: nothing,
};
const FACTORIES: readonly Factory[] = [
  () => createTokenService(TOKEN_RPCS as never),
  createGrantService,
  createAccessService,
  createIngestionService,
];

const services = FACTORIES.map((create) => create({} as never)({} as never));

/** The rpcs of each service that admit a role. */
function listOpenTo(role: string): Record<string, string[]> {
  const open = services.map(({ descriptor, callers }) => {
    const rpcs = descriptor.methods.filter(({ localName }) => callers[localName]?.includes(`role:${role}`));
    return [descriptor.typeName, rpcs.map(({ name }) => name)] as const;
  });
  return Object.fromEntries(open.filter(([, rpcs]) => rpcs.length > 0));
}

test('docs/internal-services.md names the rpcs that are open to each role', () => {
  const page = readFileSync(join(repositoryRoot, 'docs/internal-services.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `([a-z-]+)` \| [^|]+ \| `([\w.]+)`: (.+) \|$/gm)];
  const named = rows.map(([, role = '', service = '', rpcs = '']) => {
    const all = services.find(({ descriptor }) => descriptor.typeName === service)?.descriptor.methods ?? [];
    return [role, { [service]: rpcs === 'all' ? all.map(({ name }) => name) : rpcs.split(', ') }];
  });
  expect(named).toEqual(SERVICE_ROLES.map((role) => [role, listOpenTo(role)]));
});
