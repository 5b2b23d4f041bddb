import { hash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { hashBeginning } from '../src/chain.ts';
import {
  findOperatorFault,
  hashOperatorEntry,
  OPERATORS,
  type OperatorEntry,
  type StoredOperatorEntry,
} from '../src/operator-act.ts';
import type { ChainLink } from '../src/verification.ts';
import { pages, START } from './history.ts';

const ACT = {
  operator: 'on-call',
  rpc: 'phds.consent.v1.ConsentService/EraseUser',
  userRef: '33333333-3333-4333-8333-333333333333',
  clientId: 'app_1',
  grantId: 'grt_1',
  reason: 'asked “at once”',
  requestId: 'r1',
};

/** Acts and their outcomes in turn. */
function makeRecord(length = 8): StoredOperatorEntry[] {
  const entries: StoredOperatorEntry[] = [];
  for (let number = 1; number <= length; number += 1) {
    const entry = { ...ACT, number, at: START + number, ends: 0, outcome: '' };
    const content = number % 2 === 0 ? { ...entry, ends: number - 1, outcome: 'OK' } : entry;
    entries.push({ ...content, hash: hashOperatorEntry(entries.at(-1)?.hash ?? null, content) });
  }
  return entries;
}

const verify = (entries: readonly StoredOperatorEntry[]) =>
  findOperatorFault(pages(entries), { acts: 0, ends: new Map() });

const faultAt = (kind: string, number: number) => ({
  kind,
  subject: 'batch',
  writer: OPERATORS,
  seq: number - 1,
});

test('an entry is hashed as a batch of one record', () => {
  const entry: OperatorEntry = { ...ACT, number: 2, at: 1_234, ends: 1, outcome: 'OK' };
  const text = `[1,2,1234,"on-call","${ACT.rpc}","${ACT.userRef}","app_1","grt_1","asked “at once”","r1",1,"OK"]`;
  const position = Buffer.from('0000000000000001', 'hex');
  const parts = Buffer.concat([hashBeginning(OPERATORS), position, hash('sha256', text, 'buffer')]);
  expect(hashOperatorEntry(hashBeginning(OPERATORS), entry)).toEqual(hash('sha256', parts, 'buffer'));
});

test('an untouched record verifies, and its end is known', async () => {
  const entries = makeRecord();
  const progress = { acts: 0, ends: new Map<string, ChainLink>() };
  expect(await findOperatorFault(pages(entries), progress)).toBeNull();
  expect(progress.acts).toBe(8);
  expect(progress.ends.get(OPERATORS)).toMatchObject({ seq: 7, hash: entries[7]!.hash });
});

test.each<[string, Partial<StoredOperatorEntry>]>([
  ['time', { at: 1 }],
  ['operator', { operator: 'somebody' }],
  ['rpc', { rpc: 'phds.consent.v1.ConsentService/ListGrants' }],
  ['person', { userRef: '' }],
  ['app', { clientId: 'app_2' }],
  ['grant', { grantId: '' }],
  ['reason', { reason: 'another' }],
  ['command', { requestId: 'r2' }],
  ['act that ended', { ends: 1 }],
  ['outcome', { outcome: 'FAILED' }],
])('an entry whose %s was changed is named', async (_, part) => {
  const entries = makeRecord();
  expect(await verify(entries.with(5, { ...entries[5]!, ...part }))).toMatchObject(faultAt('changed', 6));
});

test('an entry that was removed, added or moved is named', async () => {
  const entries = makeRecord();
  expect(await verify(entries.toSpliced(3, 1))).toMatchObject(faultAt('removed', 4));
  expect(await verify(entries.toSpliced(3, 0, entries[2]!))).toMatchObject(faultAt('added', 3));
  const [third, fourth] = [
    { ...entries[3]!, number: 3 },
    { ...entries[2]!, number: 4 },
  ];
  expect(await verify(entries.toSpliced(2, 2, third, fourth))).toMatchObject(faultAt('changed', 3));
});
