import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { openFilesOfTest } from '@phds/test-kit/files-of-test';
import { shareTestGateway, startTestGateway } from './test-gateway.ts';

const gateway = shareTestGateway();
const run = promisify(execFile);
const readText = (file: string) => readFileSync(resolve(import.meta.dirname, '../../..', file), 'utf8');

test('the SDK is installed from a running gateway into an empty folder, under the name that the documents have', async () => {
  using files = openFilesOfTest();
  const { version } = JSON.parse(readText('packages/sdk/package.json'));
  const path = `/docs/sdk/phds-sdk-${version}.tgz`;
  for (const document of ['docs/partners/sdk.md', 'packages/sdk/README.md']) {
    expect(readText(document)).toContain(`npm install http://localhost:8080${path}\n`);
  }
  files.write('package.json', '{"type":"module"}');
  const cwd = files.directory;
  const url = `http://127.0.0.1:${gateway.port}${path}`;
  await run('npm', ['install', '--no-audit', '--no-fund', url], { cwd });
  const program = 'import { createClient } from "@phds/sdk"; console.log(typeof createClient)';
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program], { cwd });
  expect(stdout).toBe('function\n');
  const absent = await gateway.fetchUnchecked('/docs/sdk/phds-sdk-0.0.0.tgz');
  expect(absent.status).toBe(404);
});

test('security.txt names the contact of the settings', async () => {
  await using stated = await startTestGateway({ SECURITY_CONTACT: 'mailto:security@clinic.test' });
  const security = await stated.fetchUnchecked('/.well-known/security.txt');
  expect(security.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  expect(await security.text()).toMatch(
    /^Contact: mailto:security@clinic.test\nExpires: \d{4}-\d\d-\d\dT[\d:.]+Z\nCanonical: /,
  );
  expect((await gateway.fetchUnchecked('/.well-known/security.txt')).status).toBe(404);
});
