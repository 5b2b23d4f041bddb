import { generateKeyPairSync, sign } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { ChainedBatch } from '../src/chain.ts';
import {
  CHECKPOINT_TYPE,
  type CheckpointContent,
  findAnchorFault,
  findCheckpointContent,
  hashCheckpoint,
  toAnchor,
} from '../src/checkpoint.ts';
import { findCheckpointFault, type StoredCheckpoint } from '../src/checkpoint-verification.ts';
import { type ChainLink, type DroppedPart, findFault } from '../src/verification.ts';
import { type History, makeHistory, pages, START, WRITERS } from './history.ts';

describe('verification by checkpoints', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');

  function signCheckpoint(content: CheckpointContent): StoredCheckpoint {
    const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
    const signed = `${encode({ alg: 'EdDSA', typ: CHECKPOINT_TYPE })}.${encode(content)}`;
    const signature = sign(null, Buffer.from(signed), privateKey).toString('base64url');
    return { number: content.number, jws: `${signed}.${signature}` };
  }

  const headOf = ({ writer, seq, hash }: ChainedBatch) => ({
    writer,
    seq,
    hash: Buffer.from(hash).toString('base64url'),
  });

  test('a checkpoint of a number that a restored database used again is missing, not changed', () => {
    const content = { number: 7, at: START, heads: [], previous: null } as unknown as CheckpointContent;
    const sign = (iat: number) => signCheckpoint({ ...content, iat } as CheckpointContent).jws;
    const anchor = toAnchor(sign(1_000));
    expect(findAnchorFault(anchor, sign(1_000))).toBeNull();
    expect(findAnchorFault(anchor, sign(2_000))).toMatchObject({
      kind: 'removed',
      detail: expect.stringContaining(
        'its number was used again at 1970-01-01T00:33:20.000Z, as after a restore',
      ),
    });
    expect(findAnchorFault(anchor, sign(999))).toMatchObject({ kind: 'changed' });
  });

  function twoCheckpoints({ batches }: History, keptFrom: string | null = null): StoredCheckpoint[] {
    const first = signCheckpoint({
      number: 1,
      previous: null,
      keptFrom: null,
      heads: batches.slice(2, 4).map(headOf),
    });
    const heads = batches.slice(4, 6).map(headOf);
    return [first, signCheckpoint({ number: 2, previous: hashCheckpoint(first.jws), keptFrom, heads })];
  }

  async function check(
    checkpoints: StoredCheckpoint[],
    { batches, records }: History,
    dropped: DroppedPart[] = [],
  ) {
    const progress = { records: 0, batches: 0, ends: new Map<string, ChainLink>() };
    expect(
      await findFault({ batches: pages(batches), records: pages(records), dropped }, progress),
    ).toBeNull();
    const stored = new Map(batches.map((batch) => [`${batch.writer} ${batch.seq}`, headOf(batch).hash]));
    return findCheckpointFault({
      checkpoints: pages(checkpoints),
      newest: findCheckpointContent(checkpoints.at(-1)?.jws ?? '', [publicKey]),
      keys: [generateKeyPairSync('ed25519').publicKey, publicKey],
      dropped,
      ends: progress.ends,
      findBatches: async (heads) => heads.map(({ writer, seq }) => stored.get(`${writer} ${seq}`) ?? null),
    });
  }

  test('finds nothing wrong in what writers wrote', async () => {
    const history = makeHistory();
    expect(await check(twoCheckpoints(history), history)).toBeNull();
  });

  test('names the first batch of a truncated tail, and of a missing chain', async () => {
    const history = makeHistory();
    const cut = {
      batches: history.batches.filter((batch) => batch.writer !== WRITERS[1] || batch.seq < 2),
      records: history.records.filter((record) => record.writer !== WRITERS[1] || record.seq < 2),
    };
    const fault = { kind: 'removed', subject: 'batch', writer: WRITERS[1] };
    expect(await check(twoCheckpoints(history), cut)).toMatchObject({ ...fault, seq: 2 });
    const gone = {
      batches: history.batches.filter((batch) => batch.writer !== WRITERS[1]),
      records: history.records.filter((record) => record.writer !== WRITERS[1]),
    };
    expect(await check(twoCheckpoints(history), gone)).toMatchObject({ ...fault, seq: 0 });
  });

  test('names a batch of rewritten history', async () => {
    const anew = makeHistory(4, 2);
    expect(await check(twoCheckpoints(makeHistory()), anew)).toMatchObject({
      kind: 'changed',
      writer: WRITERS[0],
      seq: 1,
    });
  });

  test('accepts parts dropped by policy, but only if a checkpoint states so', async () => {
    const history = makeHistory();
    const dropped = history.batches
      .slice(0, 2)
      .map(({ writer, seq, at, hash }) => ({ writer, seq, at, hash }));
    const rest = { batches: history.batches.slice(2), records: history.records.slice(6) };
    const keptFrom = new Date(START + 500).toISOString();
    expect(await check(twoCheckpoints(history, keptFrom), rest, dropped)).toBeNull();
    expect(await check(twoCheckpoints(history), rest, dropped)).toMatchObject({ kind: 'removed', seq: 0 });
  });

  test('refuses the claim that a batch was dropped which was signed after the kept records begin', async () => {
    const [batch] = makeHistory().batches;
    const issued = (content: CheckpointContent, at: number) =>
      signCheckpoint({ ...content, iat: at / 1000 } as CheckpointContent);
    const day = 86_400_000;
    const first = { number: 1, previous: null, keptFrom: null, heads: [] };
    const one = issued(first, START + 40 * day);
    const content = { number: 2, previous: hashCheckpoint(one.jws) };
    const keptFrom = new Date(START + 30 * day).toISOString();
    const two = issued({ ...content, keptFrom, heads: [headOf(batch!)] }, START + 41 * day);
    const forged = { writer: WRITERS[0]!, seq: 9, at: START, hash: batch!.hash };
    const nothing = { batches: [], records: [] };
    expect(await check([one, two], nothing, [forged])).toMatchObject({ kind: 'removed', writer: WRITERS[0] });
  });

  test('names the missing part of a chain that later checkpoints omit because it did not move', async () => {
    const history = makeHistory();
    const [first] = twoCheckpoints(history) as [StoredCheckpoint, StoredCheckpoint];
    const heads = history.batches.slice(4, 5).map(headOf);
    const second = signCheckpoint({
      number: 2,
      previous: hashCheckpoint(first.jws),
      keptFrom: null,
      heads,
    });
    expect(await check([first, second], history)).toBeNull();
    const cut = {
      batches: history.batches.filter((batch) => batch.writer !== WRITERS[1] || batch.seq < 1),
      records: history.records.filter((record) => record.writer !== WRITERS[1] || record.seq < 1),
    };
    expect(await check([first, second], cut)).toMatchObject({
      kind: 'removed',
      writer: WRITERS[1],
      seq: 1,
      detail: 'checkpoint 1 signed the chain up to batch 1',
    });
  });

  test('names a checkpoint that was changed, removed or exchanged', async () => {
    const history = makeHistory();
    const [one, two] = twoCheckpoints(history) as [StoredCheckpoint, StoredCheckpoint];
    const checkpoint = { subject: 'checkpoint' };
    const forged = { ...two, jws: `${two.jws.slice(0, -4)}AAAA` };
    expect(await check([one, forged], history)).toMatchObject({ ...checkpoint, kind: 'changed' });
    expect(await check([two], history)).toMatchObject({
      ...checkpoint,
      kind: 'removed',
      detail: 'checkpoint 1 is gone',
    });
    const three = signCheckpoint({ number: 3, previous: hashCheckpoint(two.jws), keptFrom: null, heads: [] });
    expect(await check([one, two, three], history)).toBeNull();
    expect(await check([one, three], history)).toMatchObject({
      kind: 'removed',
      detail: 'checkpoint 2 is gone',
    });
    expect(await check([{ ...two, number: 1 }], history)).toMatchObject({ ...checkpoint, kind: 'moved' });
  });
});
