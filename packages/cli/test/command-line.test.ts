import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { inheritedEnvironment } from '@phds/local-stack/servers/guard';
import { unavailable } from '@phds/service-kit/errors';
import { toBundle } from '@phds/test-kit/bundle-files';
import { collectOutput } from '@phds/test-kit/collected-output';
import { openFilesOfTest } from '@phds/test-kit/files-of-test';
import { listImports } from '../src/commands/import.ts';
import { runRestore } from '../src/commands/restore.ts';
import { runCommand } from '../src/run-program.ts';
import { createProgress } from '../src/terminal.ts';
import { startFakeIngestion } from './fake-ingestion.ts';

const MAIN = join(import.meta.dirname, '../src/main.ts');

/** Runs the command in a separate process. */
function spawnPhds(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  return new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    const options = { env: { ...inheritedEnvironment(), ...env } };
    execFile(process.execPath, [MAIN, ...args], options, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : error.code, stdout, stderr }),
    );
  });
}

/** Runs the command in this process. */
async function phds(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const { output, errors, texts } = collectOutput();
  const code = await runCommand(args, { env, output, errors });
  return { code, ...texts };
}

describe('the command line', () => {
  test('in a process of its own imports a file and reports it as one JSON document', async () => {
    await using service = await startFakeIngestion();
    using files = openFilesOfTest();
    const bundle = toBundle([{ resourceType: 'Condition', id: 'c1', code: { text: 'Asthma' } }]);
    const file = files.write('bundle.json', JSON.stringify(bundle));
    const args = ['import', 'fhir', file, '--user', 'ada', '--json'];
    const { code, stdout, stderr } = await spawnPhds(args, service.env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, user: 'ada', stored: { inserted: 1 } });
    expect(service.records.size).toBe(1);
  });

  test('with the user id from a file, neither output nor errors contain the id', async () => {
    await using service = await startFakeIngestion();
    using files = openFilesOfTest();
    const bundle = toBundle([{ resourceType: 'Condition', id: 'c1', code: { text: 'Asthma' } }]);
    const file = files.write('bundle.json', JSON.stringify(bundle));
    const user = ['--user-file', files.write('id', 'ada-lovelace\n')];
    const report = files.write('report', '');
    const runs = [
      await phds(['import', 'fhir', file, ...user, '--json'], service.env),
      await phds(['import', 'fhir', file, ...user, '--out', report], service.env),
      await phds(['imports', ...user, '--json'], service.env),
      await phds(['imports', ...user], { ...service.env, HEALTH_DATA_ADDRESS: '127.0.0.1:1' }),
      await phds(['erase', ...user, '--confirm', 'erase', '--reason', 'asked']),
      await phds(['erase', ...user, '--confirm', 'ada-lovelace', '--reason', 'asked']),
      await phds(['records', 'export', ...user, '--format', 'csv']),
      await phds(['developers', 'add', ...user, '--reason', 'asked']),
    ];
    expect(runs.map(({ code }) => code)).toEqual([0, 0, 0, 1, 1, 2, 2, 1]);
    expect([...service.imports.keys()]).toEqual([expect.stringContaining('ada-lovelace')]);
    expect(JSON.stringify(runs)).not.toContain('lovelace');
    expect(JSON.parse(runs[0]?.stdout ?? '')).toMatchObject({ user: null, stored: { inserted: 1 } });
    expect(runs[1]?.stdout).toBe('');
    expect(readFileSync(report, 'utf8')).toMatch(/^bundle\.json, \d/);
  });

  test.each<[string, string[]]>([
    ['nothing', []],
    ['an unknown command', ['export', 'fhir', 'x.json', '--user', 'ada']],
    ['two users', ['imports', '--user', 'ada', '--user-file', import.meta.filename]],
    ['a file of a user that cannot be read', ['imports', '--user-file', '/nowhere/id']],
    ['an empty file of a user', ['imports', '--user-file', '/dev/null']],
    [
      'records of the user in a file for the output',
      ['records', 'export', '--user-file', import.meta.filename, '--format', 'csv'],
    ],
    ['an unknown option', ['import', 'fhir', 'x.json', '--users', 'ada']],
    ['a verification of a month', ['records', 'verify', '--month', '2026-03']],
    ['a part of a restore for an app and a person', ['restore', 'list', '--app', 'app_1', '--user', 'ada']],
    ['a group of commands alone', ['records']],
    ['a suspension without a reason', ['apps', 'suspend', 'app_1']],
    ['a resumption of unseen settings', ['apps', 'resume', 'app_1', '--reason', 'x']],
    ['an erasure that is not confirmed', ['erase', '--user', 'ada']],
    [
      'an erasure that is confirmed for somebody else',
      ['erase', '--user', 'ada', '--confirm', 'bob', '--reason', 'x'],
    ],
    ['a restore that is declared without confirmation', ['restore', 'declare']],
    [
      'a confirmation that belongs to the other action',
      ['restore', 'declare', '--confirm', 'believe', '--reason', 'x'],
    ],
  ])('wrong arguments end with 2 and the usage: %s', async (_, args) => {
    const { code, stdout, stderr } = await phds(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('Usage: phds');
  });

  test.each([
    ['', 'Exit codes:'],
    ['import', '--patient <ref>'],
    ['apps suspend', '--reason <text>'],
  ])('%s --help prints the usage of this command', async (command, option) => {
    const { code, stdout, stderr } = await phds([...command.split(' ').filter(Boolean), '--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`Usage: phds ${command}`);
    expect(stdout).toContain(option);
  });
});

type Surroundings = Parameters<typeof listImports>[1] & Parameters<typeof runRestore>[1];

/** Runs a command while no service answers. */
async function runUnanswered(command: (surroundings: Surroundings) => Promise<number>) {
  const { output, errors, texts } = collectOutput();
  const connect = () => {
    throw unavailable(new Error('away'));
  };
  const code = await command({ connect, output, errors });
  return { code, document: JSON.parse(texts.stdout) };
}

test('a command with --json prints a document with the reason when no service answers', async () => {
  const reasonOf = (service: string) => ({ error: `${service} does not answer.` });
  const restore = await runUnanswered((parts) => runRestore({ action: 'status', json: true }, parts));
  expect([restore.code, restore.document]).toEqual([
    1,
    { consent: reasonOf('consent'), authorization: reasonOf('authorization') },
  ]);
  const imports = await runUnanswered((parts) => listImports({ userId: 'ada', json: true }, parts));
  expect(imports.document).toEqual({ user: 'ada', ...reasonOf('health-data') });
});

const MB = 1024 * 1024;

function drawn(isTTY: boolean, stepMs: number, steps: readonly number[]): string[] {
  const written: string[] = [];
  let now = 0;
  const stream = { isTTY, write: (text: string) => void written.push(text) };
  const progress = createProgress(stream, 'Importing', () => now);
  for (const done of steps) {
    progress.update(done * MB, 10 * MB);
    now += stepMs;
  }
  progress.finish();
  return written;
}

describe('progress', () => {
  test('on a terminal redraws one line, at most ten times a second, and clears it', () => {
    expect(drawn(true, 60, [1, 2, 3, 4])).toEqual([
      '\r\u001b[KImporting 10 % of 10.0 MB',
      '\r\u001b[KImporting 30 % of 10.0 MB',
      '\r\u001b[K',
    ]);
  });

  test('elsewhere prints a line every five seconds', () => {
    expect(drawn(false, 2_500, [1, 2, 3, 4, 5, 6])).toEqual([
      'Importing 30 % of 10.0 MB\n',
      'Importing 50 % of 10.0 MB\n',
    ]);
  });
});
