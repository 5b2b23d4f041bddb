import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from '@jest/globals';
import { findRandomPorts } from '@phds/local-stack/ports';
import {
  createFurtherProcess,
  processOf,
  startRunningStack,
  withPatience,
} from '@phds/running-system/running-stack';
import { connectPerson, useEverything } from '@phds/running-system/working-system';
import { eventually } from '@phds/test-kit/conditions';
import { shared } from '@phds/test-kit/shared';
import { ImageBuild } from '../src/image-trees.ts';

const run = promisify(execFile);

const directory = await mkdtemp(join(tmpdir(), 'phds-images-'));
shared.defer(() => rm(directory, { recursive: true, force: true }));
await chmod(directory, 0o755);
let build: ImageBuild;
beforeAll(async () => {
  build = await ImageBuild.begin(directory);
}, 600_000);

const SERVICES = ['consent', 'authorization', 'health-data', 'gateway'] as const;

test('the services run from the trees of their images', async () => {
  const ports = await findRandomPorts(1);
  await using stack = await startRunningStack({ ports });
  const person = await connectPerson(stack, 'before');
  for (const service of SERVICES.toReversed())
    await processOf(stack, service === 'gateway' ? 'gateway-1' : service).stop();
  await using images = new AsyncDisposableStack();
  for (const service of SERVICES) {
    const checkout = await build.collect('service-files', service);
    const environment = withPatience()[service] ?? {};
    const own = { name: `image-${service}`, ports, checkout, environment };
    const image = createFurtherProcess(stack, service, own);
    images.defer(() => image.stop());
    await image.start();
  }
  // Calls between services that have just been replaced may fail at first.
  await eventually(() => useEverything(person), { intervalMs: 100 });
  expect((await fetch(`${stack.gateway}/docs`)).status).toBe(200);
}, 600_000);

test('the trees of the operators and of an evaluation run their commands', async () => {
  const [operator, evaluation] = [
    await build.collect('operator-files'),
    await build.collect('evaluation-files'),
  ];
  const runIn = (tree: string, ...args: string[]) =>
    run(process.execPath, args, { cwd: tree, env: { NODE_ENV: 'production' } });
  expect((await runIn(operator, 'packages/cli/src/main.ts', '--help')).stdout).toContain('records');
  // Both need settings, and say so once all their modules are loaded.
  await expect(runIn(operator, 'packages/service-kit/bin/migrate.ts', 'consent')).rejects.toThrow(
    /MIGRATION_DATABASE_URL/,
  );
  await expect(runIn(evaluation, 'packages/local-stack/src/compose-setup.ts', 'seed')).rejects.toThrow(
    /service\.pem/,
  );
}, 600_000);
