import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { openBundleFiles } from './bundle-files.ts';
import { startFakeIngestion } from './fake-ingestion.ts';

const MAIN = join(import.meta.dirname, '../src/main.ts');

/** Runs the command as its own process. */
function phds(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  return new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    const options = { env: { PATH: process.env['PATH'], ...env } };
    execFile(process.execPath, [MAIN, ...args], options, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : error.code, stdout, stderr }),
    );
  });
}

describe('the command line', () => {
  test('imports a file and reports it as one JSON document', async () => {
    await using service = await startFakeIngestion();
    using files = openBundleFiles();
    const file = files.bundle([{ resourceType: 'Condition', id: 'c1', code: { text: 'Asthma' } }]);
    const { code, stdout, stderr } = await phds(
      ['import', 'fhir', file, '--user', 'ada', '--json'],
      service.env,
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, user: 'ada', stored: { inserted: 1 } });
    expect(service.records.size).toBe(1);
  });

  test('a file that cannot be used ends with 1', async () => {
    await using service = await startFakeIngestion();
    const { code, stderr } = await phds(['import', 'fhir', '/nowhere.json', '--user', 'ada'], service.env);
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'There is no such file.\n' });
  });

  test.each<[string, string[]]>([
    ['nothing', []],
    ['an unknown command', ['export', 'fhir', 'x.json', '--user', 'ada']],
    ['an unknown format', ['import', 'hl7', 'x.json', '--user', 'ada']],
    ['no file', ['import', 'fhir', '--user', 'ada']],
    ['two files', ['import', 'csv', 'a.csv', 'b.csv', '--user', 'ada']],
    ['no user', ['import', 'fhir', 'x.json']],
    ['an unknown option', ['import', 'fhir', 'x.json', '--users', 'ada']],
  ])('wrong arguments end with 2 and the usage: %s', async (_, args) => {
    const { code, stdout, stderr } = await phds(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('Usage: pnpm phds import FORMAT FILE… --user ID');
  });

  test('--help prints the usage and ends with 0', async () => {
    const { code, stdout } = await phds(['--help']);
    expect(code).toBe(0);
    expect(stdout).toContain('Usage:');
  });
});
