import { readdirSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { ExportedAccess } from '@phds/catalog/access-csv';
import { toAuditEvent } from '../src/commands/records-export.ts';
import { writeWholeFile } from '../src/whole-file.ts';

const ACCESS: ExportedAccess = {
  id: 'acc_017f22e279b070008123456789abcdef',
  at: '2026-03-01T12:00:00.000Z',
  app: 'app_1',
  appName: 'Pulse, "the" Diary',
  grantId: 'grt_1',
  scope: 'read:mood',
  endpoint: '/api/v1/mood',
  from: '',
  to: '2026-03-01',
  page: 1,
  recordCount: 20,
  requestId: 'req_1',
  outcome: 'refused',
  reason: 'GRANT_REVOKED',
};

describe('an AuditEvent', () => {
  test('has the elements that FHIR R4 requires: type, recorded, a requestor agent, a source with an observer', () => {
    const event = toAuditEvent(ACCESS, 'ada');
    expect(event).toMatchObject({
      resourceType: 'AuditEvent',
      type: { code: 'rest' },
      action: 'R',
      recorded: ACCESS.at,
      outcome: '4',
      outcomeDesc: 'GRANT_REVOKED',
      agent: [{ requestor: true, who: { identifier: { value: 'app_1' } } }],
      source: { observer: { display: expect.any(String) } },
    });
    // A FHIR id has 1 to 64 of these characters.
    expect(event['id']).toMatch(/^[A-Za-z0-9.-]{1,64}$/);
  });

  test('names the person whose data was accessed, and has no empty value', () => {
    const event = toAuditEvent({ ...ACCESS, appName: '', outcome: 'released', reason: '' }, 'ada');
    expect(event).toMatchObject({ outcome: '0', entity: [{ what: { identifier: { value: 'ada' } } }, {}] });
    expect(JSON.stringify(event)).not.toContain('""');
    expect(event).not.toHaveProperty('outcomeDesc');
  });
});

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
