import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { AppError, type Reason, unavailable } from '@phds/service-kit/errors';
import { StreamLost } from '@phds/service-kit/rpc/call-stream';
import { BatchedReads, etagOf, reasonOf, responseOf } from './fake-read-stream.ts';

let reads: BatchedReads;
beforeEach(() => {
  reads = new BatchedReads();
});
afterEach(() => reads[Symbol.dispose]());

const lost = () => new StreamLost(new Error('cut'), true);

describe('a read whose stream is lost', () => {
  test('is repeated once by the unary rpc', async () => {
    const outcome = reads.read('a');
    await reads.stream.whenSent(1);
    reads.stream.fail(lost());
    expect(await etagOf(outcome)).toBe('alone a');
    expect(reads.alone).toEqual(['a']);
  });

  test('is not repeated again when that fails', async () => {
    reads.readAlone = () => {
      throw unavailable();
    };
    const outcome = reads.read('a');
    await reads.stream.whenSent(1);
    reads.stream.fail(lost());
    expect(await reasonOf(outcome)).toBe('unavailable');
    expect(reads.alone).toEqual(['a']);
  });

  test('does not take back the answers that its batch already has', async () => {
    const [answered, unanswered] = reads.readMany(2, 'r');
    await reads.stream.whenSent(1);
    reads.stream.batches[0]?.[0]?.resolve(responseOf('answered'));
    reads.stream.fail(lost());
    expect(await answered).toMatchObject({ etag: 'answered' });
    expect(await unanswered).toMatchObject({ etag: 'alone r1' });
    expect(reads.alone).toEqual(['r1']);
  });

  test('while others wait: they too are read alone when no other stream is open', async () => {
    await reads.fill();
    const waiting = reads.read('waiting');
    reads.open = [];
    reads.stream.fail(lost());
    expect(await etagOf(waiting)).toBe('alone waiting');
  });
});

test.each<Reason>([
  'unavailable',
  'internal',
  'access_not_recorded',
  'assertion_stale',
  'unauthorized',
  'invalid_request',
])(
  'a read that health-data answers with %s is not repeated, and the others of its batch are answered',
  async (reason) => {
    const [before, refused, after] = reads.readMany(3, 'r');
    await reads.stream.whenSent(1);
    reads.stream.batches[0]?.[1]?.reject(new AppError(reason));
    reads.stream.answer(0);
    expect([(await before)?.etag, (await after)?.etag]).toEqual(['r0', 'r2']);
    expect(await reasonOf(refused)).toBe(reason);
    expect(reads.alone).toEqual([]);
  },
);
