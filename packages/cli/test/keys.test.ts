import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { describeWithCertificates } from '@phds/test-kit/certificates';
import { collectOutput } from '@phds/test-kit/collected-output';
import { openFilesOfTest } from '@phds/test-kit/files-of-test';
import { runCommand } from '../src/run-program.ts';

async function make(directory: string, ...options: readonly string[]) {
  const { output, errors, texts } = collectOutput();
  const code = await runCommand(['keys', 'make', directory, ...options], { env: {}, output, errors });
  return { code, ...texts };
}

describeWithCertificates('phds keys make', () => {
  test('gives each service what it holds alone, and keeps it when it is repeated', async () => {
    using files = openFilesOfTest();
    const read = (name: string) => readFileSync(join(files.directory, name), 'utf8');
    const options = ['--operator', 'kim', '--domain', 'internal.example.com', '--redis', 'redis://r'];
    const database = ['--postgres', 'postgresql://db.example.com:5432/phds?sslmode=verify-full'];
    expect(await make(files.directory, ...options, ...database)).toMatchObject({ code: 0, stderr: '' });
    const names = [
      'consent/secrets/service.pem',
      'consent/tls/tls.crt',
      'all/ca.crt',
      'all/services.jwks.json',
    ];
    const first = names.map(read);
    await make(files.directory, ...options, ...database);
    expect(names.map(read)).toEqual(first);
    expect(read('operator/secrets/operator.name').trim()).toBe('kim');
    expect(read('gateway/secrets/services.jwks.json')).toContain('"operator:kim"');
    expect(read('consent/owner.database-url')).toMatch(
      /^postgresql:\/\/phds_consent_owner:[\w-]+@db\.example\.com:5432\/phds\?sslmode=verify-full$/,
    );
    const modes = [
      '',
      'consent/secrets',
      'consent/secrets/receipt.pem',
      'consent/tls',
      'consent/tls/tls.key',
    ];
    const given = modes.map((name) => statSync(join(files.directory, name)).mode & 0o777);
    expect(given).toEqual([0o700, 0o700, 0o600, 0o750, 0o640]);
    const certificate = join(files.directory, 'consent/tls/tls.crt');
    const verify = ['verify', '-CAfile', join(files.directory, 'all/ca.crt'), '-verify_hostname'];
    for (const name of ['consent', 'consent.internal.example.com'])
      expect(execFileSync('openssl', [...verify, name, certificate], { encoding: 'utf8' })).toContain('OK');
  });

  test.each([
    ['--operator', 'Kim'],
    ['--postgres', 'postgresql://phds_consent@db/phds'],
    ['--kubernetes', 'base'],
  ])('refuses %s %s', async (...option) => {
    using files = openFilesOfTest();
    expect(await make(join(files.directory, 'keys'), ...option)).toMatchObject({ code: 2, stdout: '' });
  });
});
