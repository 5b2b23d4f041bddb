import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ImportState } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import { type BundleFiles, openBundleFiles } from '@phds/test-kit/bundle-files';
import { type ImportArguments, listImports } from '../src/commands/import.ts';
import { openIngestion } from '../src/connection.ts';
import {
  type ImportedReading,
  type Importer,
  type ImportSink,
  UnusableFile,
} from '../src/importers/ingest/importer.ts';
import { type FakeIngestion, startFakeIngestion } from './fake-ingestion.ts';
import { runReported } from './import-runs.ts';

let service: FakeIngestion;
let files: BundleFiles;

beforeEach(async () => {
  service = await startFakeIngestion();
  files = openBundleFiles();
});

afterEach(async () => {
  files[Symbol.dispose]();
  await service[Symbol.asyncDispose]();
});

const TOTAL = 200_000;
const PIECE = 1_000;

/**
 * Yields two hundred thousand items in chunks of a thousand, every hundredth of them a reading. `before` is called before each
 * chunk.
 */
function countingImporter(before: (position: number) => void = () => undefined): Importer {
  return {
    format: 'counting',
    takesSeveral: true,
    open: async ({ paths }) => ({
      files: paths,
      size: TOTAL,
      describe: (index) => `item ${index}`,
      read: async (sink, from) => {
        for (let position = from; position < TOTAL; position += PIECE) {
          before(position);
          handOver(sink, position);
          await sink.reached(position + PIECE);
        }
        sink.profile({ gender: 'other' });
      },
      [Symbol.asyncDispose]: async () => undefined,
    }),
  };
}

function handOver(sink: ImportSink, from: number): void {
  for (let index = from; index < from + PIECE; index += 1) {
    if (index % 100 > 0) sink.leftOut('Item', 'is no reading');
    else sink.reading(readingAt(index), index);
  }
}

function readingAt(index: number): ImportedReading {
  const start = Date.UTC(2020, 0, 1, 0, index);
  return { type: 'Heart Rate', start, end: start, value: 60, unit: '/min', source: 'csv' };
}

const run = (importer: Importer, change: Partial<ImportArguments> = {}, env = service.env) =>
  runReported(env, { importer, ...change });

/** Runs until the defect of the file. Returns the position that health-data has stored. */
async function runIntoFault(change: Partial<ImportArguments> = {}): Promise<number> {
  const importer = countingImporter((position) => {
    if (position >= 150_000) throw new UnusableFile('Broken here');
  });
  const { code, errors } = await run(importer, change);
  expect({ code, errors }).toEqual({ code: 1, errors: 'Broken here.\n' });
  return Number([...service.imports.values()].at(-1)?.position);
}

/** The position at which a run starts to read. */
async function beginning(change: Partial<ImportArguments> = {}): Promise<number> {
  const positions: number[] = [];
  await run(
    countingImporter((position) => void positions.push(position)),
    change,
  );
  return positions[0] ?? TOTAL;
}

describe('an interrupted import', () => {
  test('resumes after everything stored, and reports on the whole file', async () => {
    const known = await runIntoFault();
    expect(known).toBeGreaterThan(0);
    const positions: number[] = [];
    const { code, report, errors } = await run(countingImporter((position) => void positions.push(position)));
    expect({ code, errors }).toEqual({
      code: 0,
      errors: 'An earlier run was interrupted: resuming where it stopped.\n',
    });
    expect(positions[0]).toBe(known);
    const { inserted, updated, unchanged } = report.stored;
    expect([inserted + updated + unchanged, report.leftOutCount]).toEqual([TOTAL / 100, (TOTAL / 100) * 99]);
    expect(service.readings.size).toBe(TOTAL / 100);
    expect(report.profile).toEqual(['gender']);
  });

  test('has stored everything before the defect of its file', async () => {
    await runIntoFault();
    expect(service.readings.size).toBe(1_500);
  });

  test('starts from the beginning with --again', async () => {
    await runIntoFault();
    expect(await beginning({ again: true })).toBe(0);
  });

  test('starts from the beginning if it had finished', async () => {
    await run(countingImporter());
    const { report } = await run(countingImporter());
    expect(report.stored).toEqual({ inserted: 0, updated: 0, unchanged: TOTAL / 100 });
  });

  test('is not resumed for another content, user or option', async () => {
    const one = { paths: [files.file('one')] };
    await runIntoFault(one);
    expect(await beginning({ paths: [files.file('two')] })).toBe(0);
    expect(await beginning({ ...one, userId: 'grace' })).toBe(0);
    expect(await beginning({ ...one, patient: 'p1' })).toBe(0);
    expect(await beginning({ paths: [files.file('one')] })).toBeGreaterThan(0);
  });

  test('starts from the beginning if the report of the earlier run is unreadable', async () => {
    await runIntoFault();
    for (const known of service.imports.values()) known.report = '{"from":"another version"}';
    expect(await beginning()).toBe(0);
  });

  test('ends when the person is erased in the meantime', async () => {
    const importer = countingImporter((position) => {
      if (position === 100_000) service.imports.clear();
    });
    const { code, errors } = await run(importer);
    expect([code, errors]).toEqual([1, "The user's data was erased while the import was running.\n"]);
  });
});

describe('the list of imports', () => {
  async function list(json: boolean): Promise<string> {
    const output: string[] = [];
    const surroundings = {
      output: { write: (text: string) => output.push(text) },
      errors: { write: () => true },
      connect: () => openIngestion(service.env),
    };
    await listImports({ userId: 'ada', json }, surroundings);
    return output.join('');
  }

  test('shows the result of each import', async () => {
    expect(await list(false)).toBe('No imports.\n');
    await run(countingImporter());
    const [head, row] = (await list(false)).split('\n');
    expect(head).toMatch(
      /^started \(UTC\) +state +format +size +new +updated +unchanged +left out +refused$/,
    );
    expect(row).toMatch(/finished +counting +0\.0 MB +2000 +0 +0 +198000 +0$/);
    expect(JSON.parse(await list(true))).toMatchObject({
      user: 'ada',
      imports: [{ format: 'counting', state: 'finished', counts: [2000, 0, 0, 198_000, 0] }],
    });
  });

  test('shows which imports have stopped reporting', async () => {
    await run(countingImporter());
    for (const known of service.imports.values()) known.state = ImportState.RUNNING;
    expect(JSON.parse(await list(true))).toMatchObject({ imports: [{ state: 'interrupted' }] });
  });
});

describe('an unusable service configuration', () => {
  test('a wrong key is reported', async () => {
    const env = { ...service.env, SERVICE_PRIVATE_KEY: 'nonsense' };
    const { code, errors } = await run(countingImporter(), {}, env);
    expect(code).toBe(1);
    expect(errors).toBe('SERVICE_PRIVATE_KEY is not an Ed25519 private key (PKCS #8 PEM).\n');
  });

  test('missing settings are named, without values', async () => {
    const { code, errors } = await run(countingImporter(), {}, { HEALTH_DATA_ADDRESS: 'localhost' });
    expect(code).toBe(1);
    expect(errors).toContain('HEALTH_DATA_ADDRESS');
    expect(errors).toContain('SERVICE_PRIVATE_KEY');
  });

  test('the key of another caller is not admitted', async () => {
    const stranger = await startFakeIngestion();
    await stranger[Symbol.asyncDispose]();
    const env = { ...service.env, SERVICE_PRIVATE_KEY: stranger.env['SERVICE_PRIVATE_KEY'] };
    const { code, errors } = await run(countingImporter(), {}, env);
    expect(code).toBe(1);
    expect(errors).toContain('does not admit this caller');
  });
});
