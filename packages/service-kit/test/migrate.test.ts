import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const program = join(import.meta.dirname, '../bin/migrate.ts');

test.each([
  { url: 'postgresql://owner:secret@127.0.0.1:1/phds', reason: 'connect ECONNREFUSED 127.0.0.1:1' },
  { url: 'postgresql://owner:secret@nowhere.invalid/phds', reason: 'nowhere.invalid' },
  { url: '', reason: 'MIGRATION_DATABASE_URL' },
])('migrations without a database ($url) end with the reason', ({ url, reason }) => {
  const env = { PATH: process.env['PATH'], MIGRATION_DATABASE_URL: url };
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'consent'], {
    env,
    encoding: 'utf8',
  });
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toContain(reason);
  expect(stderr).not.toMatch(/secret|^ *at /m);
});
