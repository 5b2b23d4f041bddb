import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { eventually } from '@phds/test-kit/conditions';
import { openIngestion } from '../src/connection.ts';
import { ImportRun, type ImportRunOptions } from '../src/importers/ingest/import-run.ts';
import type { ImportedHealthRecord, ImportedReading } from '../src/importers/ingest/importer.ts';
import { ImportReport, parseReportData } from '../src/importers/ingest/report.ts';
import { type FakeIngestion, startFakeIngestion } from './fake-ingestion.ts';

let service: FakeIngestion;
let waits: number[];

beforeEach(async () => {
  service = await startFakeIngestion();
  waits = [];
});

afterEach(async () => {
  await service[Symbol.asyncDispose]();
});

async function send(
  fill: (run: ImportRun) => Promise<void> | void,
  options: Partial<ImportRunOptions> = {},
): Promise<ImportRun> {
  using connection = openIngestion(service.env);
  const sleep = async (milliseconds: number) => void waits.push(milliseconds);
  const run = new ImportRun({ client: connection.client, userId: 'ada', sleep, ...options });
  await fill(run);
  await run.finish();
  return run;
}

function reading(minute: number, change: Partial<ImportedReading> = {}): ImportedReading {
  const start = Date.UTC(2019, 0, 1, 0, minute);
  return { type: 'Heart Rate', start, end: start, value: 60, unit: '/min', source: 'ehr', ...change };
}

function condition(key: string, name = 'Asthma'): ImportedHealthRecord {
  return {
    label: 'condition',
    key,
    source: 'ehr',
    record: { case: 'condition', value: { name, severity: '', sinceDate: '' } },
  };
}

const put = (run: ImportRun, item: ImportedReading | ImportedHealthRecord, origin: string) =>
  'record' in item
    ? run.take({ kind: 'record', record: item }, item.label, origin)
    : run.take({ kind: 'reading', reading: item }, item.type, origin);

/** Adds consecutive minutes, each with its number as origin and position. */
async function addMinutes(run: ImportRun, count: number): Promise<void> {
  for (let minute = 0; minute < count; minute += 1) {
    put(run, reading(minute), String(minute));
    await run.reached(minute + 1);
  }
}

describe('sending in batches', () => {
  test('no batch exceeds the item limit, and all items arrive', async () => {
    await send((run) => addMinutes(run, 25), { readingBatch: 10 });
    expect(service.batchSizes.toSorted()).toEqual([10, 10, 5]);
    expect(service.readings.size).toBe(25);
  });

  test("no batch exceeds the rpc's size limit, and all items arrive", async () => {
    // Two bytes each in UTF-8.
    const text = 'é'.repeat(4_000);
    const unit = 'ü'.repeat(4_000);
    const run = await send((run) => {
      for (let index = 0; index < 600; index += 1) put(run, condition(`c${index}`, text), String(index));
      for (let minute = 0; minute < 600; minute += 1) put(run, reading(minute, { unit }), String(minute));
    });
    expect([service.records.size, service.readings.size]).toEqual([600, 600]);
    expect(Math.max(...service.batchSizes)).toBeLessThanOrEqual(131);
    expect(run.total()).toMatchObject({ stored: { inserted: 1_200 }, refusedCount: 0 });
  });

  test('an item too large for any batch is refused, and the import continues', async () => {
    const text = 'x'.repeat(5 * 1024 * 1024);
    const run = await send((run) => {
      put(run, condition('c1'), '1');
      put(run, condition('c2', text), '2');
      put(run, reading(1, { unit: text }), '3');
      put(run, reading(2), '4');
    });
    const reason = 'has more than 1 MiB of text';
    expect(run.total()).toMatchObject({
      stored: { inserted: 2 },
      refused: [
        { type: 'condition', reason, count: 1, examples: ['2'] },
        { type: 'Heart Rate', reason, count: 1, examples: ['3'] },
      ],
    });
  });

  test('no more than the limit of batches run at once', async () => {
    service.gather = 3;
    await send((run) => addMinutes(run, 40), { readingBatch: 1, inFlight: 3 });
    expect(service.readings.size).toBe(40);
    expect(service.mostAtOnce).toBe(3);
  });

  test('of readings with the same natural key the last one is kept, however batches overlap', async () => {
    await send(
      async (run) => {
        for (let value = 50; value <= 90; value += 1) {
          put(run, reading(1, { value }), String(value));
          await run.reached(value);
        }
      },
      { readingBatch: 1, inFlight: 4 },
    );
    expect(service.mostAtOnce).toBe(1);
    expect([...service.readings.values()].map(({ value }) => value)).toEqual([90]);
  });
});

describe('the position up to which everything is stored', () => {
  test('advances by stretches, with a report on exactly the items before it', async () => {
    const known: [number, number][] = [];
    const run = await send(
      async (run) => {
        for (let minute = 0; minute < 20; minute += 1) {
          put(run, reading(minute), String(minute));
          if (minute % 3 === 0) run.take({ kind: 'left-out', reason: 'financial' }, 'Claim', '');
          await run.reached((minute + 1) * 10);
          const { stored, leftOutCount } = run.settled;
          known.push([run.position, stored.inserted + leftOutCount]);
        }
      },
      { readingBatch: 3, stretchItems: 4, inFlight: 1 },
    );
    const itemsBefore = (position: number) => position / 10 + Math.ceil(position / 30);
    expect(known.length).toBe(20);
    for (const [position, items] of known) expect(items).toBe(itemsBefore(position));
    expect(known.at(-1)?.[0]).toBeGreaterThan(0);
    expect(run.total()).toMatchObject({ stored: { inserted: 20 }, leftOutCount: 7 });
  });

  test('stays at the start of the first unanswered batch', async () => {
    using connection = openIngestion(service.env);
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    const sleep = () => answered;
    const run = new ImportRun({ client: connection.client, userId: 'ada', sleep, stretchItems: 3 });
    service.failures = 1;
    put(run, reading(0), '0');
    put(run, reading(0, { type: 'Steps' }), '1');
    put(run, reading(0, { type: 'Weight' }), '2');
    const reached = run.reached(3);
    // The first batch, which other batches overtake.
    await eventually(() => service.failures === 0 && service.readings.size === 2);
    expect([run.position, run.settled.stored.inserted]).toEqual([0, 0]);
    answer();
    await reached;
    expect([run.position, run.settled.stored.inserted]).toEqual([3, 3]);
  });
});

describe('the key of a record', () => {
  test('is a digest of the content if the source has no key, and of a key that is too long', async () => {
    await send((run) => {
      put(run, condition(''), '0');
      put(run, condition(''), '1');
      put(run, condition('', 'Migraine'), '2');
      put(run, condition('k'.repeat(500)), '3');
    });
    const keys = [...service.records.values()].map(({ key }) => key);
    expect(keys).toHaveLength(3);
    for (const key of keys) expect(key).toMatch(/^sha256:[0-9a-f]{64}$/);
  });
});

describe('an unavailable service', () => {
  test('is retried after growing pauses until it is back', async () => {
    service.failures = 4;
    const run = await send((run) => put(run, reading(1), '0'));
    expect(waits).toEqual([200, 400, 800, 1600]);
    expect(run.total().stored.inserted).toBe(1);
  });

  test('ends the import with `unavailable` when it is away for too long', async () => {
    service.failures = Number.POSITIVE_INFINITY;
    await expect(send((run) => put(run, reading(1), '0'))).rejects.toMatchObject({
      reason: 'unavailable',
    });
    expect(waits).toEqual([200, 400, 800, 1600, 3200, 5000, 5000]);
  });

  test('is not taken for one that does not take a message because of its size', async () => {
    using connection = openIngestion(service.env);
    const readings = [{ unit: 'x'.repeat(4 * 1024 * 1024) }];
    await expect(connection.client.putReadings({ readings })).rejects.toMatchObject({
      reason: 'internal',
      message: 'A message exceeds the size limit of the services.',
    });
  });
});

// Maximum report size that health-data accepts.
const MAX_REPORT_LENGTH = 256 * 1024;

/** A report with as many and as long invented names as possible. */
function hostileReport(): ImportReport {
  const report = new ImportReport();
  for (let n = 0; n < 5_000; n += 1) {
    const name = `"\\\u001b[2J\u0000${n} ${'"'.repeat(5_000)}`;
    report.addLeftOut(name, `reason ${name}`);
    report.addRefused(name, `reason ${name}`, name);
  }
  return report;
}

describe('a report', () => {
  test('with invented names is bounded, and its sums are correct', () => {
    const data = hostileReport().toData();
    expect([data.leftOutCount, data.refusedCount]).toEqual([5_000, 5_000]);
    const text = JSON.stringify(data);
    expect(text.length).toBeLessThan(MAX_REPORT_LENGTH);
    expect(text).not.toMatch(/\\u00[01]/);
    expect(data.refused[0]).toMatchObject({ type: 'other', reason: 'other', count: 4_900 });
  });

  test('keeps its counts when it is read back and continued', () => {
    const report = hostileReport();
    report.addStored('readings', 'Heart Rate', { inserted: 1, updated: 2, unchanged: 3 });
    report.setProfile(['gender']);
    const data = report.toData();
    const readBack = parseReportData(JSON.stringify(data));
    expect(readBack).toEqual(data);
    const resumed = new ImportReport(readBack);
    expect(resumed.toData()).toEqual(data);
    resumed.addStored('readings', 'Heart Rate', { inserted: 1, updated: 2, unchanged: 3 });
    resumed.addRefused('other', 'other', '1');
    expect(resumed.toData()).toMatchObject({
      stored: { inserted: 2, updated: 4, unchanged: 6 },
      leftOutCount: 5_000,
      refusedCount: 5_001,
    });
  });
});
