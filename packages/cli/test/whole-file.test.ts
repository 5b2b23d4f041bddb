import { readdirSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { writeWholeFile } from '../src/whole-file.ts';

let directory: string;
let file: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'phds-whole-'));
  file = join(directory, 'out.csv');
});
afterEach(() => rm(directory, { recursive: true }));

async function* breakingOff(onPart: () => Promise<void>): AsyncGenerator<string> {
  yield 'half\n';
  await onPart();
  throw new Error('broken off');
}

test('a file appears under its name only when complete, readable only by its owner', async () => {
  const seen: string[][] = [];
  async function* parts() {
    yield 'one\n';
    seen.push(await readdir(directory));
    yield 'two\n';
  }
  await writeWholeFile(file, parts());
  expect(seen.flat()).not.toContain('out.csv');
  expect(await readFile(file, 'utf8')).toBe('one\ntwo\n');
  expect(await readdir(directory)).toEqual(['out.csv']);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test('a failed write keeps the previous file and leaves nothing beside it', async () => {
  const atHalf: string[] = [];
  const lookAtHalf = async () => void atHalf.push(...(await readdir(directory)));
  await expect(writeWholeFile(file, breakingOff(lookAtHalf))).rejects.toThrow('broken off');
  expect(atHalf).not.toContain('out.csv');
  expect(await readdir(directory)).toEqual([]);
  await writeFile(file, 'of yesterday');
  await expect(writeWholeFile(file, breakingOff(lookAtHalf))).rejects.toThrow('broken off');
  expect(await readFile(file, 'utf8')).toBe('of yesterday');
  expect(await readdir(directory)).toEqual(['out.csv']);
});

test('a failure of the first part leaves nothing: the file exists before the text is read', async () => {
  const atFirst: string[] = [];
  const failing = {
    [Symbol.iterator]: () => ({
      next(): IteratorResult<string> {
        atFirst.push(...readdirSync(directory));
        throw new Error('broken off');
      },
    }),
  };
  await expect(writeWholeFile(file, failing)).rejects.toThrow('broken off');
  expect(atFirst).toEqual([expect.stringMatching(/^\.out\.csv\.[0-9a-f]+\.part$/)]);
  expect(await readdir(directory)).toEqual([]);
});

test('a link stays a link, and a device is written directly', async () => {
  const link = join(directory, 'link.csv');
  await writeFile(file, 'before');
  await symlink(file, link);
  await writeWholeFile(link, ['after']);
  expect(await readFile(file, 'utf8')).toBe('after');
  expect((await readdir(directory)).sort()).toEqual(['link.csv', 'out.csv']);
  await writeWholeFile('/dev/null', ['gone']);
  expect((await stat('/dev/null')).isCharacterDevice()).toBe(true);
});
