import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { listSamples, type Sample } from '@phds/docs/samples';
import { readPages } from '@phds/docs/source';
import { findProgram } from '@phds/local-servers/system-programs';
import { type SharedStack, useSharedStack } from '@phds/running-system/shared-stack';
import { describeWith } from '@phds/test-kit/requirements';

const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
/** What answers of a failed request contain. */
const SURPRISE = /"code": ?"(INTERNAL_ERROR|NOT_FOUND|INVALID_REQUEST|INSUFFICIENT_SCOPE)"/;

const pages = readPages()
  .map(({ slug, markdown }) => ({ slug, samples: listSamples(markdown) }))
  .filter(({ samples }) => samples.some(({ notRun }) => notRun === null));

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
    stack = await useSharedStack();
    directory = await mkdtemp(join(tmpdir(), 'phds-samples-'));
  });
  afterAll(async () => rm(directory, { recursive: true }));

  test.each(pages)('the samples of $slug run in order, in one shell', async ({ slug, samples }) => {
    const here = await mkdtemp(join(directory, `${slug}-`));
    const script = join(here, 'samples.sh');
    await writeFile(script, await toScript(samples, here, stack));
    const { output, code } = await run('bash', [script], here);
    expect({ slug, code, output }).toEqual({ slug, code: 0, output: expect.any(String) });
    expect(SURPRISE.exec(output)?.[0]).toBeUndefined();
  });
});

/** One script of all samples of a page. Variables of the shell reach the samples in TypeScript by the environment. */
async function toScript(samples: readonly Sample[], directory: string, stack: SharedStack): Promise<string> {
  const parts = ['set -euo pipefail -o allexport'];
  for (const { language, code, notRun, line } of samples) {
    if (notRun !== null) continue;
    const text = code
      .replaceAll('http://localhost:8080', stack.gateway)
      .replaceAll('http://localhost:8090', stack.identityProviderUrl);
    if (language === 'sh') parts.push(`echo "--- line ${line}"`, text);
    else {
      const file = join(directory, `line-${line}.ts`);
      await writeFile(file, text);
      parts.push(`echo "--- line ${line}"`, `node --input-type=module-typescript - < ${file}`);
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
  execFile(program, args, { cwd, env, maxBuffer: MAX_OUTPUT_BYTES }, (error, output, errors) => {
    const code = error === null ? 0 : Number(error.code ?? 1);
    resolve({ output: output + errors, code });
  });
  return promise;
}
