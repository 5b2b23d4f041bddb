import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { manifests } from '../src/kubernetes/objects.ts';

/** Writes its arguments to `calls`. A job is complete when it has been waited for twice, unless its name is in `failed`. */
const KUBECTL = `#!/bin/sh
cd "$(dirname "$0")"
echo "$*" >>calls
case "$*" in
  "apply -k "*/migrations*) printf 'job.batch/migrate-consent-2\\njob.batch/migrate-health-data-2\\n' ;;
  *" wait "*) for job; do :; done; test "$(grep -c " wait .*$job" calls)" -gt 1 && ! grep -q "$job" failed ;;
  *" get "*) if grep -q "$4" failed; then printf True; fi ;;
  *" rollout status "*) ! grep -q "$5" failed ;;
esac
`;

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'phds-release-'));
  await writeFile(join(directory, 'kubectl'), KUBECTL);
  await chmod(join(directory, 'kubectl'), 0o755);
});
afterEach(() => rm(directory, { recursive: true }));

/** Runs the script while these jobs or deployments fail. Returns its exit code, its errors, and what it applied. */
async function release(...failed: readonly string[]) {
  await writeFile(join(directory, 'failed'), failed.join('\n'));
  const env = { PATH: `${directory}:${process.env['PATH']}` };
  const { promise, resolve } = Promise.withResolvers<{ code: unknown; errors: string }>();
  execFile('sh', [join(manifests, 'release.sh'), 'production'], { env }, (error, _output, errors) =>
    resolve({ code: error?.code ?? 0, errors }),
  );
  const ended = await promise;
  const calls = (await readFile(join(directory, 'calls'), 'utf8')).trim().split('\n');
  const applied = calls.filter((call) => /^apply|rollout/.test(call));
  return {
    ...ended,
    applied: applied.map((call) => call.replace(/^apply -k production ?|-n phds | --timeout=.*/g, '')),
  };
}

const MIGRATIONS = '/migrations -o name';

test('a release runs the migrations, then replaces one service after the other', async () => {
  const { code, errors, applied } = await release();
  expect({ code, errors }).toEqual({ code: 0, errors: '' });
  expect(applied).toEqual([
    MIGRATIONS,
    '-l app.kubernetes.io/component in (settings, network)',
    ...['consent', 'authorization', 'health-data', 'gateway'].flatMap((service) => [
      `-l app.kubernetes.io/name=${service}`,
      `rollout status deployment/${service}`,
    ]),
    '',
  ]);
});

test('a failed migration ends a release before anything is replaced', async () => {
  const { code, errors, applied } = await release('job.batch/migrate-health-data-2');
  expect(code).toBe(1);
  expect(errors).toContain('job.batch/migrate-health-data-2 failed. Nothing was replaced.');
  expect(applied).toEqual([MIGRATIONS]);
});

test('a service that does not become ready ends a release before the next one', async () => {
  const { code, applied } = await release('deployment/authorization');
  expect(code).toBe(1);
  expect(applied.at(-1)).toBe('rollout status deployment/authorization');
});
