import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { listSamples, type Sample } from '@phds/docs/samples';
import { readPages } from '@phds/docs/source';
import { findProgram } from '@phds/local-stack/servers/system-programs';
import { renderWalkthrough } from '@phds/local-stack/walkthrough';
import { type SharedStack, useSharedSandbox } from '@phds/running-system/shared-stack';
import { describeWith } from '@phds/test-kit/requirements';

const SDK = resolve(import.meta.dirname, '../../../packages/sdk');
const FHIR_CLIENT = resolve(import.meta.dirname, '../node_modules/fhir-kit-client');
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
/** Less than the time limit of a test, so that the output of a sample that hangs is shown. */
const LIMIT_MS = 120_000;
/** What answers of a failed request contain. */
const SURPRISE = /"code": ?"(INTERNAL_ERROR|NOT_FOUND|INVALID_REQUEST|INSUFFICIENT_SCOPE)"/;

const pages = readPages()
  .map(({ slug, markdown }) => ({ slug, samples: listSamples(markdown) }))
  .filter(({ samples }) => samples.some(({ notRun }) => notRun === null));

/** What readers save, by its name: samples of other pages use it. */
const savedFiles = pages.flatMap(({ samples }) => samples.filter(({ file }) => file !== null));

const hasCurl = (await findProgram(['curl'])) !== null && (await findProgram(['bash'])) !== null;

test('the pages have samples, and each that is not run says why', () => {
  expect(pages.length).toBeGreaterThan(3);
  const reasons = pages.flatMap(({ samples }) => samples.flatMap(({ notRun }) => notRun ?? []));
  expect(reasons.filter((reason) => reason.length < 20)).toEqual([]);
});

describeWith('curl and bash', hasCurl)('against a running service', () => {
  let stack: SharedStack;
  let directory: string;

  beforeAll(async () => {
    stack = await useSharedSandbox();
    directory = await mkdtemp(join(tmpdir(), 'phds-samples-'));
    await mkdir(join(directory, 'node_modules/@phds'), { recursive: true });
    await symlink(SDK, join(directory, 'node_modules/@phds/sdk'));
    await symlink(FHIR_CLIENT, join(directory, 'node_modules/fhir-kit-client'));
  });
  afterAll(async () => rm(directory, { recursive: true }));

  test.each(pages)('the samples of $slug run in order, in one shell', async ({ slug, samples }) => {
    const here = await mkdtemp(join(directory, `${slug}-`));
    const script = join(here, 'samples.sh');
    await writeFile(script, await toScript(samples, here, stack));
    const { output, code } = await run('bash', [script], here);
    if (code !== 0 || SURPRISE.test(output)) throw new Error(`${slug}.md ended with ${code}:\n${output}`);
  });

  test('the walk-through of npm start leads from an app to a read, and to a refusal after the revocation', async () => {
    const { output, code } = await run('bash', ['--norc', '-c', renderWalkthrough(stack)], directory);
    expect(code).toBe(0);
    const steps = output.split('--- ');
    const after = (title: string) => steps.find((step) => step.startsWith(title)) ?? '';
    expect(after('the app asks')).toContain(`${stack.gateway}/approve/apr_`);
    expect(after('the app reads')).toMatch(/"type":"Heart Rate"[\s\S]*"Ada Sommer"/);
    expect(after('ada revokes')).toContain('"code":"UNAUTHORIZED"');
  });
});

/** One script of all samples of a page. Variables of the shell reach the samples in TypeScript by the environment. */
async function toScript(samples: readonly Sample[], directory: string, stack: SharedStack): Promise<string> {
  // What a sample leaves running in the background ends with the script.
  const parts = ['set -euo pipefail -o allexport', `trap 'kill $(jobs -p) 2>/dev/null || true' EXIT TERM`];
  const toText = (code: string) =>
    code
      .replaceAll('http://localhost:8080', stack.gateway)
      .replaceAll('http://localhost:8090', stack.identityProviderUrl);
  for (const { code, file } of savedFiles) await writeFile(join(directory, file ?? ''), toText(code));
  for (const { language, code, notRun, file, line } of samples) {
    if (notRun !== null || file !== null) continue;
    const text = toText(code);
    if (language === 'sh') parts.push(`echo "--- line ${line}"`, text);
    else {
      const program = join(directory, `line-${line}.ts`);
      await writeFile(program, text);
      parts.push(`echo "--- line ${line}"`, `node --input-type=module-typescript - < ${program}`);
    }
  }
  return `${parts.join('\n')}\n`;
}

async function run(
  program: string,
  args: readonly string[],
  cwd: string,
): Promise<{ output: string; code: number }> {
  // `node` of the samples is the one that runs the tests. Its options are not for the samples.
  const { NODE_OPTIONS: _, ...environment } = process.env;
  const env = { ...environment, PATH: `${dirname(process.execPath)}:${process.env['PATH']}` };
  const { promise, resolve } = Promise.withResolvers<{ output: string; code: number }>();
  const options = { cwd, env, maxBuffer: MAX_OUTPUT_BYTES, timeout: LIMIT_MS };
  execFile(program, args, options, (error, output, errors) => {
    const code = error === null ? 0 : Number(error.code ?? 1);
    resolve({ output: output + errors, code });
  });
  return promise;
}
