import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

const run = promisify(execFile);
const own = resolve(import.meta.dirname, '..');
const tool = (name: string) => join(own, 'node_modules/.bin', name);

let directory: string;
let built: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'phds-sdk-'));
  built = join(directory, 'node_modules/@phds/sdk');
  await run(process.execPath, [join(own, 'bin/build.ts'), built]);
});

afterAll(() => rm(directory, { recursive: true, force: true }));

/** The code that a bundler keeps of one statement that uses the package. */
async function bundle(source: string): Promise<string> {
  const [entry, output] = [join(directory, 'entry.mjs'), join(directory, 'bundle.mjs')];
  await writeFile(entry, source);
  await run(tool('rolldown'), [entry, '--platform', 'browser', '--format', 'esm', '--file', output], {
    cwd: directory,
  });
  return readFile(output, 'utf8');
}

describe('published package', () => {
  test('the published package has no fault that publint knows', async () => {
    await run(tool('publint'), [built, '--strict', '--pack', 'false']);
  });

  test('the published package has types that every way of importing an ES module finds', async () => {
    const { stdout } = await run('npm', ['pack', '--silent', '--ignore-scripts', built], { cwd: directory });
    await run(tool('attw'), [join(directory, stdout.trim()), '--profile', 'esm-only']);
  });

  test('the published package compiles in a strict project for Node and browsers, with typed errors and data', async () => {
    await writeFile(
      join(directory, 'consumer.ts'),
      `import { createClient, isPhdsError, verifyWebhook } from '@phds/sdk';
       const client = createClient({ baseUrl: 'https://x.example', clientId: 'a', redirectUri: 'https://y.example/', clientKey: 'PEM', dpop: true });
       export async function read(): Promise<number | null> {
         for await (const reading of client.connection('grt_1').healthData('heart', { type: 'Heart Rate' })) return reading.value;
         await client.authorize({ scopes: ['read:mood', 'read:of-a-later-version'] });
         // @ts-expect-error There is no such category.
         client.connection('grt_1').healthData('hart');
         return null;
       }
       export const isOver = (error: unknown) => isPhdsError(error, 'RATE_LIMITED') && error.retryAfterSeconds;
       // @ts-expect-error There is no such code.
       export const isWrong = (error: unknown) => isPhdsError(error, 'RATE_LIMITD');
       export const type = (request: Request, body: string) =>
         verifyWebhook(request.headers, body, 'whsec_').then((event) => event.type);`,
    );
    const options = {
      strict: true,
      exactOptionalPropertyTypes: true,
      noEmit: true,
      module: 'nodenext',
      target: 'es2022',
      lib: ['es2022', 'dom'],
      types: [],
    };
    await writeFile(
      join(directory, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: options, files: ['consumer.ts'] }),
    );
    await writeFile(join(directory, 'package.json'), '{"type":"module"}');
    await run(tool('tsc'), ['-p', directory]);
  });

  test('the published package leaves unused code out of a bundle', async () => {
    const webhooks = await bundle("export { verifyWebhook } from '@phds/sdk';");
    expect(webhooks).toContain('webhook-signature');
    expect(webhooks).not.toMatch(/oauth|api\/v1|fetch|class Client/);
    const client = await bundle("export { createClient } from '@phds/sdk';");
    expect(client).toContain('/oauth/par');
    expect(client).not.toContain('webhook-signature');
  });

  test('the published package needs nothing but web standards', async () => {
    const everything = await bundle("export * from '@phds/sdk';");
    expect(everything).not.toMatch(/\bimport\b|\brequire\(|\bprocess\.|\bBuffer\b|\bglobal\./);
  });
});
