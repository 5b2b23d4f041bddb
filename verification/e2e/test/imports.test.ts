import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { listImports } from '@phds/running-system/ingestion';
import { expectStatus, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import type { Answer } from '@phds/running-system/request';
import { useSharedStack } from '@phds/running-system/shared-stack';
import { eventually } from '@phds/test-kit/conditions';
import { openFilesOfTest } from '@phds/test-kit/files-of-test';
import { shared } from '@phds/test-kit/shared';
import { runImport, startImport, undoImport } from '../src/import-command.ts';

const IMPORTERS = 4;
// For processes that start at once, or one large import, on a machine that runs other tests.
const PATIENCE_MS = 180_000;
const MINUTE_MS = 60_000;
const BEGIN = Date.UTC(2024, 0, 1);

const stack = await useSharedStack();
const { directory } = shared.use(openFilesOfTest());

/** Writes steps for this many minutes, alternating between two devices, with an occasional implausible value. */
async function writeSteps(name: string, minutes: number): Promise<string> {
  const lines = ['type,start,end,value,unit,source'];
  for (let minute = 0; minute < minutes; minute += 1) {
    const [start, end] = [minute, minute + 1].map((n) => new Date(BEGIN + n * MINUTE_MS).toISOString());
    const value = minute % 1000 === 999 ? 1_000_000 : minute % 90;
    lines.push(`Steps,${start},${end},${value},count,${minute % 2 === 0 ? 'iphone' : 'apple-watch'}`);
  }
  const path = join(directory, name);
  await writeFile(path, `${lines.join('\n')}\n`);
  return path;
}

const SCOPES = ['read:health-data:activity', 'read:trends'];
const PATHS = ['health-data/activity', 'trends?type=steps&bucket=day'];

/** What partners read about a person's activity: the newest readings and daily totals. */
async function readActivity(user: string): Promise<Answer['body'][]> {
  const app = await registerApp(stack.gateway, await signIn(stack, 'developer'));
  const { accessToken } = await app.connect(await signIn(stack, user), SCOPES);
  const answers = await Promise.all(PATHS.map((path) => app.read(accessToken, `/api/v1/${path}`)));
  // Ids differ between people.
  const withoutIds = (text: string) => JSON.parse(text, (name, value) => (name === 'id' ? null : value));
  return answers.map((answer) => withoutIds(expectStatus(200, answer).text));
}

function countOf({ stored, refusedCount, leftOutCount }: Answer['body']): number {
  return stored.inserted + stored.updated + stored.unchanged + refusedCount + leftOutCount;
}

test(
  'concurrent imports of the same file leave exactly one copy, and the totals of a single import',
  async () => {
    const minutes = 4_000;
    const file = await writeSteps('steps.csv', minutes);
    await runImport(stack, ['csv', file, '--user', 'one']);
    const reports = await Promise.all(
      Array.from({ length: IMPORTERS }, () => runImport(stack, ['csv', file, '--user', 'many'])),
    );
    expect(reports.map(countOf)).toEqual(Array(IMPORTERS).fill(minutes));
    expect(reports.map(({ refusedCount }) => refusedCount)).toEqual(Array(IMPORTERS).fill(4));
    expect(reports.reduce((sum, { stored }) => sum + stored.inserted, 0)).toBe(minutes - 4);
    expect(reports.reduce((sum, { stored }) => sum + stored.updated, 0)).toBe(0);
    const activity = await readActivity('many');
    expect(activity[0].pagination.total).toBe(minutes - 4);
    expect(activity).toEqual(await readActivity('one'));
    expect(await listImports(stack, 'many')).toMatchObject([{ state: 'IMPORT_STATE_FINISHED' }]);
  },
  PATIENCE_MS,
);

test(
  'an import that is undone leaves readings and totals as they were before',
  async () => {
    const [kept, wrong] = [await writeSteps('kept.csv', 1_500), await writeSteps('wrong.csv', 10)];
    await runImport(stack, ['csv', kept, '--user', 'undone']);
    const before = await readActivity('undone');
    const text = (await readFile(wrong, 'utf8')).replaceAll('2024-01-01', '2024-03-01');
    await writeFile(wrong, text);
    await runImport(stack, ['csv', wrong, '--user', 'undone']);
    expect(await readActivity('undone')).not.toEqual(before);
    const undone = await undoImport(stack, ['csv', wrong, '--user', 'undone']);
    expect(undone).toMatchObject({ ok: true, readings: 10, records: 0 });
    expect(await readActivity('undone')).toEqual(before);
  },
  PATIENCE_MS,
);

test(
  'an import that was killed resumes where it stopped and reports on the whole file',
  async () => {
    const minutes = 80_000;
    const file = await writeSteps('many-steps.csv', minutes);
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
    const [list] = await readActivity('killed');
    expect(list.pagination.total).toBe(minutes - minutes / 1000);
  },
  PATIENCE_MS,
);
