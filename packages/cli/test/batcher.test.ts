import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openIngestion } from '../src/connection.ts';
import { Batcher, type BatcherOptions } from '../src/ingest/batcher.ts';
import type { ImportedReading, ImportedRecord } from '../src/ingest/imported-item.ts';
import { ImportReport } from '../src/ingest/report.ts';
import { type FakeIngestion, startFakeIngestion } from './fake-ingestion.ts';

let service: FakeIngestion;
let report: ImportReport;
let waits: number[];

beforeEach(async () => {
  service = await startFakeIngestion();
  report = new ImportReport();
  waits = [];
});

afterEach(async () => {
  await service[Symbol.asyncDispose]();
});

async function send(
  fill: (batcher: Batcher) => Promise<void>,
  options: Partial<BatcherOptions> = {},
): Promise<void> {
  using connection = openIngestion(service.env);
  const sleep = async (milliseconds: number) => void waits.push(milliseconds);
  const batcher = new Batcher({ client: connection.client, userId: 'ada', report, sleep, ...options });
  await fill(batcher);
  await batcher.flush();
}

function reading(minute: number, change: Partial<ImportedReading> = {}): ImportedReading {
  const start = new Date(Date.UTC(2019, 0, 1, 0, minute));
  return { type: 'Heart Rate', start, end: null, value: 60, unit: '/min', source: 'ehr', ...change };
}

function condition(key: string, name = 'Asthma'): ImportedRecord {
  return {
    label: 'condition',
    key,
    source: 'ehr',
    record: { case: 'condition', value: { name, severity: '', sinceDate: '' } },
  };
}

describe('sending in batches', () => {
  test('a batch is at most as large as the limit, and all arrive', async () => {
    await send(
      async (batcher) => {
        for (let minute = 0; minute < 25; minute += 1) await batcher.addReading(reading(minute), 'somewhere');
      },
      { batchSize: 10 },
    );
    expect(service.batchSizes.toSorted()).toEqual([10, 10, 5]);
    expect(service.readings.size).toBe(25);
  });

  test('no more than the limit are under way at a time', async () => {
    await send(
      async (batcher) => {
        for (let minute = 0; minute < 40; minute += 1) await batcher.addReading(reading(minute), 'somewhere');
      },
      { batchSize: 1, inFlight: 3 },
    );
    expect(service.readings.size).toBe(40);
    expect(service.mostAtOnce).toBeLessThanOrEqual(3);
  });

  test('counts are kept by type', async () => {
    await send(async (batcher) => {
      await batcher.addReading(reading(1), 'a');
      await batcher.addReading(reading(1, { type: 'Weight', unit: 'kg' }), 'b');
      await batcher.addRecord(condition('c1'), 'c');
    });
    const one = { inserted: 1, updated: 0, unchanged: 0 };
    expect(report.toData()).toMatchObject({
      stored: { inserted: 3, updated: 0, unchanged: 0 },
      readings: { 'Heart Rate': one, Weight: one },
      records: { condition: one },
    });
  });

  test('a refusal of the service is reported with the place in the file', async () => {
    service.refusedValue = 999;
    await send(async (batcher) => {
      await batcher.addReading(reading(1), 'entry[0]');
      await batcher.addReading(reading(2, { value: 999 }), 'entry[1]');
    });
    expect(report.toData().refused).toEqual([
      {
        type: 'Heart Rate',
        reason: 'value is outside the plausible range',
        count: 1,
        examples: ['entry[1]'],
      },
    ]);
  });
});

describe('what the file states twice', () => {
  test('the same reading is sent once; another value for its time is refused', async () => {
    await send(
      async (batcher) => {
        await batcher.addReading(reading(1), 'entry[0]');
        await batcher.addReading(reading(1), 'entry[1]');
        await batcher.addReading(reading(1, { value: 61 }), 'entry[2]');
      },
      { batchSize: 1 },
    );
    const { stored, leftOut, refused } = report.toData();
    expect(stored.inserted).toBe(1);
    expect([...service.readings.values()].map(({ value }) => value)).toEqual([60]);
    expect(leftOut).toEqual([{ reason: 'stated twice in the file', types: { 'Heart Rate': 1 } }]);
    expect(refused).toMatchObject([{ count: 1, examples: ['entry[2]'] }]);
  });

  test('a record with the same key is sent once', async () => {
    await send(async (batcher) => {
      await batcher.addRecord(condition('c1'), 'entry[0]');
      await batcher.addRecord(condition('c1', 'Other'), 'entry[1]');
    });
    expect(service.records.size).toBe(1);
  });

  test('without a key of its own a record is known by its content', async () => {
    await send(async (batcher) => {
      await batcher.addRecord(condition(''), 'entry[0]');
      await batcher.addRecord(condition(''), 'entry[1]');
      await batcher.addRecord(condition('', 'Migraine'), 'entry[2]');
      await batcher.addRecord(condition('k'.repeat(500)), 'entry[3]');
    });
    const keys = [...service.records.values()].map(({ key }) => key);
    expect(keys).toHaveLength(3);
    for (const key of keys) expect(key).toMatch(/^sha256:[0-9a-f]{64}$/);
  });
});

describe('a service that is away', () => {
  test('is asked again, waiting longer each time, until it is back', async () => {
    service.failures = 4;
    await send((batcher) => batcher.addReading(reading(1), 'entry[0]'));
    expect(waits).toEqual([200, 400, 800, 1600]);
    expect(report.toData().stored.inserted).toBe(1);
  });

  test('for too long ends the import with `unavailable`', async () => {
    service.failures = Number.POSITIVE_INFINITY;
    await expect(send((batcher) => batcher.addReading(reading(1), 'entry[0]'))).rejects.toMatchObject({
      reason: 'unavailable',
    });
    expect(waits).toEqual([200, 400, 800, 1600, 3200, 5000, 5000]);
  });

  test('a refused caller is told at once', async () => {
    const other = await startFakeIngestion();
    const env = { ...service.env, SERVICE_PRIVATE_KEY: other.env['SERVICE_PRIVATE_KEY'] };
    await other[Symbol.asyncDispose]();
    using connection = openIngestion(env);
    const batcher = new Batcher({ client: connection.client, userId: 'ada', report });
    await batcher.addReading(reading(1), 'entry[0]');
    await expect(batcher.flush()).rejects.toMatchObject({ reason: 'caller_not_admitted' });
  });
});
