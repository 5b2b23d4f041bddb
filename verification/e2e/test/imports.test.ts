import { readFile, writeFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { useSharedStack } from '@phds/running-system/shared-stack';
import { openFilesOfTest } from '@phds/test-kit/files-of-test';
import { shared } from '@phds/test-kit/shared';
import { runImport, undoImport } from '../src/import-command.ts';
import { readActivity, writeSteps } from '../src/imported-steps.ts';

const stack = await useSharedStack();
const { directory } = shared.use(openFilesOfTest());

test('an import that is undone leaves readings and totals as they were before', async () => {
  const [kept, wrong] = [
    await writeSteps(directory, 'kept.csv', 1_500),
    await writeSteps(directory, 'wrong.csv', 10),
  ];
  await runImport(stack, ['csv', kept, '--user', 'undone']);
  const before = await readActivity(stack, 'undone');
  const text = (await readFile(wrong, 'utf8')).replaceAll('2024-01-01', '2024-03-01');
  await writeFile(wrong, text);
  await runImport(stack, ['csv', wrong, '--user', 'undone']);
  expect(await readActivity(stack, 'undone')).not.toEqual(before);
  const undone = await undoImport(stack, ['csv', wrong, '--user', 'undone']);
  expect(undone).toMatchObject({ ok: true, readings: 10, records: 0 });
  expect(await readActivity(stack, 'undone')).toEqual(before);
});
