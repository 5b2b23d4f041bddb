import { spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

test('a command that needs generated code says what to run when it is missing', async () => {
  const workspace = await mkdtemp(join(tmpdir(), 'phds-generated-'));
  const check = join(workspace, 'packages/service-kit/bin/require-generated.mjs');
  await cp(join(import.meta.dirname, '../../service-kit/bin/require-generated.mjs'), check);
  const service = join(workspace, 'services/consent');
  for (const part of ['prisma', 'src/store/generated']) await mkdir(join(service, part), { recursive: true });
  await writeFile(join(service, 'prisma/schema.prisma'), '');
  const run = () => spawnSync(process.execPath, ['--import', check, '--eval', ''], { encoding: 'utf8' });
  const { status, stderr } = run();
  expect([status, stderr]).toEqual([1, expect.stringMatching(/of consent are not generated.*gen:prisma/)]);
  await writeFile(join(service, 'src/store/generated/client.ts'), '');
  expect(run().status).toBe(0);
  await rm(workspace, { recursive: true });
});
