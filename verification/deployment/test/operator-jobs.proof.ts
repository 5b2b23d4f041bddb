import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { openFilesOfTest } from '@phds/test-kit/files-of-test';
import { describeWith } from '@phds/test-kit/requirements';
import { shared } from '@phds/test-kit/shared';
import { parse } from 'yaml';
import { findSchemaProblems, hasKubectl, manifests } from '../src/kubernetes/objects.ts';

/** Builds manifests as kubectl does. The job that it creates is complete when it has been waited for twice, or fails if `failed` exists. */
const KUBECTL = `#!/bin/sh
cd "$(dirname "$0")"
echo "$*" >>calls
case "$*" in
  kustomize*) PATH="\${PATH#*:}" exec kubectl "$@" ;;
  create*) cat >created; echo job.batch/phds-x7k2p ;;
  *" wait "*) ! test -e failed && test "$(grep -c " wait " calls)" -gt 1 ;;
  *" get job"*) if test -e failed; then printf True; fi ;;
  *" get pods "*) if test -e failed; then printf 3; else printf 0; fi ;;
  *" logs "*) echo 'what the command printed' ;;
esac
`;

const { directory } = shared.use(openFilesOfTest());
writeFileSync(join(directory, 'kubectl'), KUBECTL, { mode: 0o755 });

function phds(...words: readonly string[]) {
  writeFileSync(join(directory, 'calls'), '');
  const env = { PATH: `${directory}:${process.env['PATH']}` };
  const script = join(manifests, 'phds.sh');
  const { status, stdout } = spawnSync('sh', [script, ...words], { env, encoding: 'utf8' });
  const read = (name: string) => readFileSync(join(directory, name), 'utf8');
  return { status, stdout, calls: read('calls'), job: parse(read('created')) };
}

describeWith('kubectl 1.27', hasKubectl())('phds.sh', () => {
  const reason = 'a "quoted" \\ word,\n$HOME and --- # 12';

  test('runs the words of a command as a job of its own name, and prints its output', () => {
    const { status, stdout, calls, job } = phds('apps', 'suspend', 'app_1', '--reason', reason);
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'what the command printed\n' });
    const { name, ...metadata } = { name: undefined, ...job.metadata };
    expect([name, metadata.generateName]).toEqual([undefined, 'phds-']);
    expect(findSchemaProblems(job)).toEqual([]);
    const [container] = job.spec.template.spec.containers;
    expect(container.args).toEqual([
      'packages/cli/src/main.ts',
      ...['apps', 'suspend', 'app_1', '--reason', reason],
    ]);
    expect(calls).toContain('logs --selector job-name=phds-x7k2p --tail=-1');
  });

  test.each([
    { words: ['records', 'verify'], volumes: ['secrets', 'tls'] },
    { words: ['erase', '--user-file=/run/person/id'], volumes: ['secrets', 'tls', 'person', 'files'] },
    { words: ['import', 'csv', '/files/1.csv'], volumes: ['secrets', 'tls', 'person', 'files'] },
  ])('runs $words in the job that has what it needs', ({ words, volumes }) => {
    const { job } = phds(...words);
    const { spec, metadata } = job.spec.template;
    expect(spec.volumes.map(({ name }: { name: string }) => name).toSorted()).toEqual(volumes.toSorted());
    const caller = words[0] === 'import' ? 'importer' : 'operator';
    expect(metadata.labels['app.kubernetes.io/name']).toBe(caller);
  });

  test('ends with the exit code of the command', () => {
    writeFileSync(join(directory, 'failed'), '');
    expect(phds('records', 'verify')).toMatchObject({ status: 3, stdout: 'what the command printed\n' });
  });
});
