import { describe, expect, test } from '@jest/globals';
import { newId } from '@phds/service-kit/ids';
import { newSecret, sha256 } from '@phds/service-kit/secrets';
import type { App } from '../src/app.ts';
import { parseRegistration } from '../src/app-settings.ts';
import { createClientAuthentication } from '../src/client-authentication.ts';
import { refusalOf } from './harness.ts';

const SECRET = newSecret('client_secret');
const time = new Date('2026-03-01T12:00:00Z');
const clock = { now: () => time };

function createStore(status: App['status'], secretHash: App['secretHash']) {
  const app: App = {
    clientId: newId('app'),
    ownerId: 'dev',
    ...parseRegistration({ name: 'App', redirectUris: ['https://app.test/'], scopes: [] }),
    applicationType: 'server',
    status,
    epoch: 1,
    ledgerRevision: 1,
    statusChangedAt: time,
    lockKind: null,
    lockReason: null,
    lockedAt: null,
    secretHash,
    secretLast4: '',
    secretRotatedAt: time,
    createdAt: time,
    updatedAt: time,
  };
  const lookups: string[] = [];
  const findCredential = async (clientId: string) => {
    lookups.push(clientId);
    return clientId === app.clientId ? app : null;
  };
  const unused = () => {
    throw new Error('no assertion was sent');
  };
  const dependencies = {
    apps: { findCredential },
    clock,
    useJwt: unused,
    verifyAssertion: unused,
    keyFetching: { want: unused },
    publicApps: 'allowed' as const,
  };
  return { app, lookups, clients: createClientAuthentication(dependencies) };
}

describe('client authentication', () => {
  test('admits an active app with its own secret', async () => {
    const { app, clients, lookups } = createStore('active', sha256(SECRET));
    const admitted = await clients.authenticate({ clientId: app.clientId, clientSecret: SECRET });
    expect([admitted, lookups.length]).toEqual([app, 1]);
  });

  test.each<[string, App['status'], App['secretHash'], object]>([
    ['a wrong secret', 'active', sha256(SECRET), { clientSecret: newSecret('client_secret') }],
    ['garbage for a secret', 'active', sha256(SECRET), { clientSecret: 'x' }],
    ['an empty secret', 'active', sha256(''), { clientSecret: '' }],
    ['no secret', 'active', sha256(''), {}],
    ['a suspended app', 'suspended', sha256(SECRET), { clientSecret: SECRET }],
    ['a revoked app', 'revoked', null, { clientSecret: SECRET }],
    ['an app without a secret', 'active', null, { clientSecret: SECRET }],
    ['an unknown client id', 'active', sha256(SECRET), { clientId: newId('app'), clientSecret: SECRET }],
    ['a malformed client id', 'active', sha256(SECRET), { clientId: "x'\0", clientSecret: SECRET }],
    ['no client id', 'active', sha256(SECRET), { clientId: undefined, clientSecret: SECRET }],
  ])('refuses %s after exactly one look-up', async (_cause, status, hash, presented) => {
    const { app, clients, lookups } = createStore(status, hash);
    const refusal = await refusalOf(clients.authenticate({ clientId: app.clientId, ...presented }));
    expect(refusal).toMatchObject({ reason: 'unauthorized', message: '', violations: [] });
    expect(lookups).toHaveLength(1);
  });
});
