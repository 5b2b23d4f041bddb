import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { openFilesOfTest } from '@phds/test-kit/files-of-test';
import { shared } from '@phds/test-kit/shared';
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

const { directory } = shared.use(openFilesOfTest());
const inDirectory = (name: string) => join(directory, name);
writeFileSync(inDirectory('kubectl'), KUBECTL, { mode: 0o755 });

/** Runs the script while these jobs or deployments fail. Returns its exit code, its errors, and what it applied. */
function release(...failed: readonly string[]) {
  writeFileSync(inDirectory('calls'), '');
  writeFileSync(inDirectory('failed'), failed.join('\n'));
  const env = { PATH: `${directory}:${process.env['PATH']}` };
  const script = join(manifests, 'release.sh');
  const { status, stderr } = spawnSync('sh', [script, 'production'], { env, encoding: 'utf8' });
  const calls = readFileSync(inDirectory('calls'), 'utf8').trim().split('\n');
  const applied = calls.filter((call) => /^apply|rollout/.test(call));
  return {
    code: status,
    errors: stderr,
    applied: applied.map((call) => call.replace(/^apply -k production ?|-n phds | --timeout=.*/g, '')),
  };
}

const MIGRATIONS = '/migrations -o name';

test('a release runs the migrations, then replaces one service after the other', () => {
  const { code, errors, applied } = release();
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

test('a failed migration ends a release before anything is replaced', () => {
  const { code, errors, applied } = release('job.batch/migrate-health-data-2');
  expect(code).toBe(1);
  expect(errors).toContain('job.batch/migrate-health-data-2 failed. Nothing was replaced.');
  expect(applied).toEqual([MIGRATIONS]);
});

test('a service that does not become ready ends a release before the next one', () => {
  const { code, errors, applied } = release('deployment/authorization');
  expect(code).toBe(1);
  expect(errors).toContain('The new replicas of authorization did not become ready.');
  expect(applied.at(-1)).toBe('rollout status deployment/authorization');
});
