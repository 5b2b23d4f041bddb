import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createAssertionSigner, createAssertionVerifier } from '@phds/service-kit/trust/access-assertion';
import { createServiceTokenSource, createServiceTokenVerifier } from '@phds/service-kit/trust/service-token';
import { CALLERS, ensureKeyFiles } from '../src/key-files.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'phds-keys-'));
});

afterEach(() => rm(directory, { recursive: true, force: true }));

async function readAll(): Promise<Record<string, string>> {
  const names = await readdir(directory);
  const entries = names.map(async (name) => [name, await readFile(join(directory, name), 'utf8')]);
  return Object.fromEntries(await Promise.all(entries));
}

describe('the keys of a stack', () => {
  test('are readable by their owner only', async () => {
    await ensureKeyFiles(directory);
    for (const name of await readdir(directory)) {
      expect([name, (await stat(join(directory, name))).mode & 0o777]).toEqual([name, 0o600]);
    }
  });

  test('stay the same when created again', async () => {
    await ensureKeyFiles(directory);
    const before = await readAll();
    await ensureKeyFiles(directory);
    expect(await readAll()).toEqual(before);
  });

  test.each(CALLERS)("let %s prove its identity, and no other caller's", async (caller) => {
    const files = await ensureKeyFiles(directory);
    const publicKeys = await readFile(files.servicePublicKeys, 'utf8');
    const privateKeyPem = await readFile(files.servicePrivateKeys[caller], 'utf8');
    const verify = createServiceTokenVerifier({ service: 'consent', publicKeys });
    const sign = (service: string) => createServiceTokenSource({ service, privateKeyPem })('consent');
    expect(await verify(await sign(caller))).toBe(caller);
    const other = caller === 'gateway' ? 'importer' : 'gateway';
    await expect(verify(await sign(other))).rejects.toMatchObject({ reason: 'caller_not_admitted' });
  });

  test('let health-data verify assertions of authorization', async () => {
    const files = await ensureKeyFiles(directory);
    const sign = createAssertionSigner({ privateKeyPem: await readFile(files.assertionPrivateKey, 'utf8') });
    const assertion = {
      clientId: 'app_1',
      userId: 'ada',
      grantId: 'grt_1',
      familyId: 'fam_1',
      scopes: ['read:profile'],
      tokenHash: 'hash',
      tokenExpiresAt: 2_000_000_000,
      dataFrom: null,
    };
    const verify = createAssertionVerifier({ publicKeys: await readFile(files.assertionPublicKeys, 'utf8') });
    expect(await verify(await sign(assertion))).toEqual(assertion);
  });

  test('contain no private part in the public files', async () => {
    await ensureKeyFiles(directory);
    for (const [name, content] of Object.entries(await readAll())) {
      if (name.endsWith('.jwks.json')) expect(JSON.parse(content).keys[0]).not.toHaveProperty('d');
    }
  });
});
