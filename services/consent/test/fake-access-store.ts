import { randomBytes } from 'node:crypto';
import { FakeClock } from '@phds/test-kit/fake-clock';
import type { AccessRecordBatch, AccessRecordStore } from '../src/app/access-ports.ts';
import { type AccessRecorder, createAccessRecorder } from '../src/app/access-recorder.ts';
import type { Access, Judgement } from '../src/domain/access.ts';
import { accessOf } from './running-service.ts';

const GRANT = { grantId: 'grt_1', clientId: 'app_1', userId: 'ada' };

/** A store of access records that a test can block, fail and inspect. */
export class FakeStore implements AccessRecordStore {
  readonly refs = new Map<string, Uint8Array>([['grt_1', randomBytes(16)]]);
  readonly askedFor: string[][] = [];
  readonly batches: AccessRecordBatch[] = [];
  readonly told: string[] = [];
  judgement: (access: Access) => Judgement = () => 'released';
  insertGate: Promise<unknown> = Promise.resolve();
  judgeGate: Promise<unknown> = Promise.resolve();

  async findRefs(grantIds: readonly string[]): Promise<Map<string, Uint8Array>> {
    this.askedFor.push([...grantIds]);
    return new Map([...this.refs].filter(([grantId]) => grantIds.includes(grantId)));
  }

  async insert(batch: AccessRecordBatch): Promise<void> {
    this.told.push(`insert ${batch.recordCount}`);
    await this.insertGate;
    this.batches.push(batch);
    this.told.push(`inserted ${batch.recordCount}`);
  }

  async judge(accesses: readonly Access[]): Promise<Judgement[]> {
    this.told.push(`judge ${accesses.length}`);
    await this.judgeGate;
    return accesses.map(this.judgement);
  }
}

export function startRecorder(
  limits: { maxQueued?: number; maxWaitMs?: number } = {},
): [AccessRecorder, FakeStore, FakeClock] {
  const [store, clock] = [new FakeStore(), new FakeClock()];
  const options = { maxBatch: 10, maxQueued: 100, maxWaitMs: 60_000, maxGrants: 4, ...limits };
  return [createAccessRecorder({ store, clock, ...options }), store, clock];
}

export const some = (count: number, change: object = {}) =>
  Array.from({ length: count }, () => ({ ...accessOf(GRANT), ...change }));
