import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openIngestion } from '@phds/cli/connection';
import { type FilesOfTest, openFilesOfTest } from '@phds/test-kit/files-of-test';
import { type FakeIngestion, startFakeIngestion } from '../../cli/test/fake-ingestion.ts';
import { type GenerateValues, generate, parseGenerate } from '../src/phds/generate.ts';

const NOW = Date.parse('2026-03-31T10:00:00Z');

let service: FakeIngestion;
let files: FilesOfTest;

beforeEach(async () => {
  service = await startFakeIngestion();
  files = openFilesOfTest();
});

afterEach(async () => {
  files[Symbol.dispose]();
  await service[Symbol.asyncDispose]();
});

async function run(values: GenerateValues, env = service.env) {
  const [output, errors]: [string[], string[]] = [[], []];
  const args = parseGenerate(values, NOW);
  if (typeof args === 'string') throw new Error(args);
  const code = await generate(args, {
    output: { write: (text) => output.push(text) },
    errors: { write: (text) => errors.push(text) },
    connect: () => openIngestion(env),
  });
  return { code, output: output.join(''), errors: errors.join('') };
}

describe('generating', () => {
  test('writes a file, the same bytes each time', async () => {
    const [first, second] = ['one.xml', 'two.xml'].map((name) => join(files.directory, name)) as [
      string,
      string,
    ];
    const values = { person: 'ada', days: '3', until: '2026-02-28', format: 'apple' };
    const { code, output } = await run({ ...values, out: first });
    expect([code, output]).toEqual([0, `ada, seed 1, 2026-02-26 to 2026-02-28: written to ${first}\n`]);
    await run({ ...values, out: second });
    expect(readFileSync(second, 'utf8')).toBe(readFileSync(first, 'utf8'));
    await run({ ...values, seed: '2', out: second });
    expect(readFileSync(second, 'utf8')).not.toBe(readFileSync(first, 'utf8'));
  });

  test('writes exactly so many records', async () => {
    const out = join(files.directory, 'data.xml');
    await run({ person: 'heavy', records: '12345', format: 'apple', out });
    expect(readFileSync(out, 'utf8').match(/^ <Record /gm)).toHaveLength(12_345);
  });

  test('ends with yesterday unless told otherwise', async () => {
    const { output } = await run({ person: 'grace', format: 'csv', out: join(files.directory, 'data.csv') });
    expect(output).toContain('2025-12-31 to 2026-03-30');
  });

  test('sends to a user; sending again changes nothing', async () => {
    const values = { person: 'ada', days: '30', user: 'bob' };
    const { code, output } = await run(values);
    expect(code).toBe(0);
    expect(output).toBe(
      `ada, seed 1, 2026-03-01 to 2026-03-30: ${service.readings.size} readings and ${service.records.size} records sent to bob\n`,
    );
    expect(service.readings.size).toBeGreaterThan(5_000);
    expect(service.profiles).toMatchObject([
      { userId: 'bob', name: 'Ada Sommer', timeZone: 'Europe/Berlin', bloodType: 'A+' },
    ]);
    const [readings, records] = [service.readings.size, service.records.size];
    await run(values);
    expect([service.readings.size, service.records.size]).toEqual([readings, records]);
  });

  test('says when health-data is away, or the file cannot be written', async () => {
    service.failures = 1;
    const away = await run({ person: 'sparse', user: 'bob' });
    expect(away.code).toBe(1);
    expect(away.errors).toContain('health-data does not answer.');
    const out = join(files.directory, 'nowhere', 'data.csv');
    const unwritten = await run({ person: 'sparse', format: 'csv', out });
    expect(unwritten.code).toBe(1);
    expect(unwritten.errors).toContain('ENOENT');
    expect(existsSync(out)).toBe(false);
  });
});

describe('wrong arguments', () => {
  const right = { person: 'ada', format: 'csv', out: '/data.csv' };

  test.each<[string, GenerateValues]>([
    ['--person must be one of ada, grace, sparse, empty, traveller, heavy', { ...right, person: 'eve' }],
    ['--person must be', { ...right, person: undefined }],
    ['--format must be one of apple, fhir, ndjson, csv', { ...right, format: 'hl7' }],
    ['--format must be', { person: 'ada' }],
    ['--out is missing', { person: 'ada', format: 'csv' }],
    ['either --user, or --format and --out', { ...right, user: 'bob' }],
    ['--user is empty', { person: 'ada', user: '' }],
    ['--seed must be', { ...right, seed: '-1' }],
    ['--seed must be', { ...right, seed: '1.5' }],
    ['--days must be', { ...right, days: '0' }],
    ['--days must be', { ...right, days: '10001' }],
    ['--records must be', { ...right, records: '1e3' }],
    ['either --days or --records', { ...right, days: '3', records: '3' }],
    ['--records is for people who are measured', { ...right, person: 'sparse', records: '3' }],
    ['--until must be a date', { ...right, until: '31.3.2026' }],
    ['--until must be a day from 1950 on that is over', { ...right, until: '2026-03-31' }],
    ['--until must be a day from 1950 on that is over', { ...right, until: '1949-12-31' }],
  ])('%s', (message, values) => {
    expect(parseGenerate(values, NOW)).toContain(message);
  });
});
