import { describe, expect, test } from '@jest/globals';
import { digestAccessRecord, hashBatch, parseUuid, toUuidText } from '../src/chain.ts';
import { type ChainLink, type DroppedPart, findFault, type StoredAccessRecord } from '../src/verification.ts';
import { type History, makeHistory, pages, START, WRITERS } from './history.ts';

function verify({ batches, records }: History, dropped: DroppedPart[] = []) {
  const order = (one: string, other: string) => (one < other ? -1 : Number(one > other));
  return findFault({
    batches: pages(batches.toSorted((a, b) => a.at - b.at || order(a.writer, b.writer) || a.seq - b.seq)),
    records: pages(records.toSorted((a, b) => Buffer.compare(a.id, b.id))),
    dropped,
  });
}

/** Changes the record at an index, as a person with every database privilege could. */
function change(history: History, index: number, part: Partial<StoredAccessRecord>): History {
  return { ...history, records: history.records.with(index, { ...history.records[index]!, ...part }) };
}

const placeOf = (record: StoredAccessRecord) => ({
  recordId: toUuidText(record.id),
  writer: record.writer,
  seq: record.seq,
  ordinal: record.ordinal,
});

describe('verification of the chains', () => {
  test('finds nothing wrong in what writers wrote, and counts it', async () => {
    const { batches, records } = makeHistory();
    const progress = { records: 0, batches: 0, ends: new Map<string, ChainLink>() };
    const source = { batches: pages(batches), records: pages(records), dropped: [] };
    expect(await findFault(source, progress)).toBeNull();
    expect(progress).toMatchObject({ records: 24, batches: 8 });
    expect(progress.ends.get(WRITERS[1]!)).toMatchObject({ seq: 3, hash: batches[7]!.hash });
  });

  test.each<[string, Partial<StoredAccessRecord>]>([
    ['text', { endpoint: '/api/v1/mooe' }],
    ['count', { recordCount: 3 }],
    ['negative number', { page: -1 }],
    ['person', { userRef: parseUuid(WRITERS[0]!) }],
    ['verdict', { verdict: 'grant_revoked' }],
    ['time', { at: START }],
  ])('names a record whose %s was changed', async (_, part) => {
    const history = makeHistory();
    expect(await verify(change(history, 8, part))).toMatchObject({
      kind: 'changed',
      subject: 'record',
      ...placeOf(history.records[8]!),
    });
  });

  test('reports the position of a removed record', async () => {
    const history = makeHistory();
    const { writer, seq, ordinal } = history.records[10]!;
    const cut = { ...history, records: history.records.toSpliced(10, 1) };
    expect(await verify(cut)).toMatchObject({ kind: 'removed', recordId: null, writer, seq, ordinal });
  });

  test('names a record that was swapped with another one, of its batch or of the same time', async () => {
    const history = makeHistory();
    const [one, within, beside] = [6, 8, 9].map((index) => history.records[index]!);
    for (const [other, index] of [
      [within!, 8],
      [beside!, 9],
    ] as const) {
      const { writer, seq, ordinal } = other;
      const half = change(history, 6, { writer, seq, ordinal });
      const swapped = change(half, index, { writer: one!.writer, seq: one!.seq, ordinal: one!.ordinal });
      const fault = await verify(swapped);
      expect(fault).toMatchObject({ kind: 'moved', subject: 'record' });
      expect([toUuidText(one!.id), toUuidText(other.id)]).toContain(fault?.recordId);
    }
  });

  test('names a record whose id was given another time', async () => {
    const history = makeHistory();
    const id = Buffer.alloc(16);
    id.writeUIntBE(START - 5_000, 0, 6);
    expect(await verify(change(history, 8, { id }))).toMatchObject({
      kind: 'added',
      recordId: toUuidText(id),
    });
  });

  test('reports an added record, after its batch or at an occupied position', async () => {
    const history = makeHistory();
    const id = Buffer.from(history.records[2]!.id);
    id.writeUInt32BE(0xffff_ffff, 12);
    for (const ordinal of [3, 1]) {
      const added = { ...history.records[2]!, id, ordinal };
      const fault = await verify({ ...history, records: [...history.records, added] });
      expect(fault).toMatchObject({ kind: 'added', recordId: toUuidText(id) });
    }
  });

  test('names a batch that was removed, repeated, changed or truncated at the front', async () => {
    const { batches, records } = makeHistory();
    const victim = batches[4]!;
    const place = { subject: 'batch', writer: victim.writer, seq: 2 };
    const without = records.filter((record) => record.writer !== victim.writer || record.seq !== 2);
    expect(await verify({ batches: batches.toSpliced(4, 1), records: without })).toMatchObject({
      ...place,
      kind: 'removed',
    });
    expect(await verify({ batches: [...batches, victim], records })).toMatchObject({
      ...place,
      kind: 'added',
    });
    const digests = Buffer.from(victim.digests);
    digests[40]! ^= 1;
    for (const part of [{ digests }, { hash: digests.subarray(0, 32) }, { recordCount: 2 }]) {
      const changed = { batches: batches.with(4, { ...victim, ...part }), records };
      expect(await verify(changed)).toMatchObject({ ...place, kind: 'changed' });
    }
    const late = { batches: batches.slice(2), records: records.slice(6) };
    expect(await verify(late)).toMatchObject({ kind: 'removed', seq: 0 });
  });

  test('names the batch after one whose record, digest and hash were all changed consistently', async () => {
    const history = change(makeHistory(), 12, { recordCount: 99 });
    const victim = history.batches[4]!;
    const digests = Buffer.concat(history.records.slice(12, 15).map(digestAccessRecord));
    const hash = hashBatch(victim.previousHash, victim.seq, digests);
    const forged = { ...history, batches: history.batches.with(4, { ...victim, digests, hash }) };
    expect(await verify(forged)).toMatchObject({ kind: 'changed', writer: victim.writer, seq: 3 });
  });

  test('accepts chains whose beginning was dropped by policy', async () => {
    const { batches, records } = makeHistory();
    const dropped = batches.slice(2, 4).map(({ writer, seq, at, hash }) => ({ writer, seq, at, hash }));
    expect(await verify({ batches: batches.slice(4), records: records.slice(12) }, dropped)).toBeNull();
  });
});
