import { once } from 'node:events';
import { expect, test } from '@jest/globals';
import { listImports } from '@phds/running-system/ingestion';
import type { Answer } from '@phds/running-system/request';
import { useSharedStack } from '@phds/running-system/shared-stack';
import { eventually } from '@phds/test-kit/conditions';
import { openFilesOfTest } from '@phds/test-kit/files-of-test';
import { shared } from '@phds/test-kit/shared';
import { runImport, startImport } from '../src/import-command.ts';
import { readActivity, writeSteps } from '../src/imported-steps.ts';

const IMPORTERS = 4;
// For one large import, on a machine that runs other tests.
const PATIENCE_MS = 180_000;

const stack = await useSharedStack();
const { directory } = shared.use(openFilesOfTest());

function countOf({ stored, refusedCount, leftOutCount }: Answer['body']): number {
  return stored.inserted + stored.updated + stored.unchanged + refusedCount + leftOutCount;
}

test(
  'concurrent imports of the same file leave exactly one copy, and the totals of a single import',
  async () => {
    const minutes = 2_000;
    const file = await writeSteps(directory, 'steps.csv', minutes);
    await runImport(stack, ['csv', file, '--user', 'one']);
    const reports = await Promise.all(
      Array.from({ length: IMPORTERS }, () => runImport(stack, ['csv', file, '--user', 'many'])),
    );
    expect(reports.map(countOf)).toEqual(Array(IMPORTERS).fill(minutes));
    expect(reports.map(({ refusedCount }) => refusedCount)).toEqual(Array(IMPORTERS).fill(minutes / 1000));
    expect(reports.reduce((sum, { stored }) => sum + stored.inserted, 0)).toBe(minutes - minutes / 1000);
    expect(reports.reduce((sum, { stored }) => sum + stored.updated, 0)).toBe(0);
    const activity = await readActivity(stack, 'many');
    expect(activity[0].pagination.total).toBe(minutes - minutes / 1000);
    expect(activity).toEqual(await readActivity(stack, 'one'));
    expect(await listImports(stack, 'many')).toMatchObject([{ state: 'IMPORT_STATE_FINISHED' }]);
  },
  PATIENCE_MS,
);

test(
  'an import that was killed resumes where it stopped and reports on the whole file',
  async () => {
    const minutes = 80_000;
    const file = await writeSteps(directory, 'many-steps.csv', minutes);
    const args = ['csv', file, '--user', 'killed'];
    const first = startImport(stack, args);
    const ended = once(first, 'exit');
    await eventually(async () =>
      (await listImports(stack, 'killed')).some(({ report = '' }) => report !== ''),
    );
    first.kill('SIGKILL');
    expect(await ended).toEqual([null, 'SIGKILL']);
    const [interrupted] = await listImports(stack, 'killed');
    const before = countOf(JSON.parse(interrupted?.report ?? ''));
    expect(interrupted?.state).toBe('IMPORT_STATE_RUNNING');
    expect(before).toBeGreaterThan(0);
    expect(before).toBeLessThan(minutes);
    const report = await runImport(stack, args);
    expect(countOf(report)).toBe(minutes);
    expect(report).toMatchObject({ refusedCount: minutes / 1000, stored: { updated: 0 } });
    const [list] = await readActivity(stack, 'killed');
    expect(list.pagination.total).toBe(minutes - minutes / 1000);
  },
  PATIENCE_MS,
);
