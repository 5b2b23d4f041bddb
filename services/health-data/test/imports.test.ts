import { describe, expect, test } from '@jest/globals';
import { Endpoint } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { ImportState } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import { at, bodyOf, reading, reasonOf, refusalOf, shareHarness } from './harness.ts';

const harness = await shareHarness();

const DIGEST = 'a1'.repeat(32);

function start(userId: string, change: { digest?: string; again?: boolean } = {}) {
  return harness.ingestion.startImport({ userId, format: 'fhir', digest: DIGEST, size: 1000n, ...change });
}

function report(userId: string, run: number, position: number, state = ImportState.RUNNING) {
  const key = { userId, format: 'fhir', digest: DIGEST };
  const text = JSON.stringify({ at: position });
  return harness.ingestion.reportImport({ ...key, run, position: BigInt(position), report: text, state });
}

async function list(userId: string) {
  return (await harness.ingestion.listImports({ userId })).imports;
}

describe('an import', () => {
  test('starts at the beginning, and resumes from its furthest report if it did not end', async () => {
    expect(await start('goes-on')).toMatchObject({ run: 1, position: 0n, report: '' });
    await report('goes-on', 1, 500);
    await report('goes-on', 1, 400);
    expect(await start('goes-on')).toMatchObject({ run: 1, position: 500n, report: '{"at":500}' });
    await report('goes-on', 1, 700, ImportState.FAILED);
    expect(await start('goes-on')).toMatchObject({ run: 1, position: 700n });
  });

  test('that finished starts from the beginning, as a new run', async () => {
    await start('anew');
    await report('anew', 1, 1000, ImportState.FINISHED);
    expect(await start('anew')).toMatchObject({ run: 2, position: 0n, report: '' });
    expect(await start('anew')).toMatchObject({ run: 2, position: 0n });
  });

  test('starts from the beginning when requested', async () => {
    await start('again');
    await report('again', 1, 500);
    expect(await start('again', { again: true })).toMatchObject({ run: 2, position: 0n, report: '' });
  });

  test('is a different one for another user or content', async () => {
    await start('other');
    await report('other', 1, 500);
    expect(await start('other', { digest: 'b2'.repeat(32) })).toMatchObject({ position: 0n });
    expect(await start('another')).toMatchObject({ position: 0n });
  });

  test("learns the person's zone", async () => {
    expect(await start('zoned')).toMatchObject({ timeZone: '' });
    await harness.ingestion.putProfile({ userId: 'zoned', timeZone: 'America/Denver' });
    expect(await start('zoned')).toMatchObject({ timeZone: 'America/Denver' });
    expect(await harness.ingestion.listImports({ userId: 'zoned' })).toMatchObject({
      timeZone: 'America/Denver',
    });
  });
});

describe('two runs of the same import', () => {
  test('the one that ends first ends the import; the other has no further effect', async () => {
    await start('ended');
    await report('ended', 1, 900);
    await report('ended', 1, 800, ImportState.FINISHED);
    await report('ended', 1, 950);
    await report('ended', 1, 950, ImportState.FAILED);
    await report('ended', 1, 950, ImportState.FINISHED);
    expect(await list('ended')).toMatchObject([{ state: ImportState.FINISHED, report: '{"at":800}' }]);
  });

  test('an earlier run does not affect a later one', async () => {
    await start('later');
    await start('later', { again: true });
    await report('later', 1, 900, ImportState.FINISHED);
    expect(await start('later')).toMatchObject({ run: 2, position: 0n });
  });
});

describe('the list', () => {
  test("shows the last reports of this person's imports only, the latest first", async () => {
    const begun = harness.clock.now();
    await start('listed');
    harness.clock.advance(60_000);
    await start('listed', { digest: 'c3'.repeat(32) });
    await report('listed', 1, 10);
    await start('not-listed');
    expect(await list('listed')).toMatchObject([
      { digest: 'c3'.repeat(32), state: ImportState.RUNNING, report: '' },
      {
        format: 'fhir',
        digest: DIGEST,
        size: 1000n,
        state: ImportState.RUNNING,
        report: '{"at":10}',
        startedAt: at(begun.toISOString()),
        reportedAt: at(harness.clock.now().toISOString()),
      },
    ]);
  });

  test('is empty after the person was erased, and a run that still reports gets an error', async () => {
    await start('erased');
    await harness.ingestion.eraseUser({ userId: 'erased' });
    expect(await list('erased')).toEqual([]);
    expect(await reasonOf(report('erased', 1, 10))).toBe('not_found');
    expect(await list('erased')).toEqual([]);
  });
});

describe('items that are part of an import', () => {
  const name = { format: 'fhir', digest: DIGEST };
  const at10 = '2026-01-02T10:00:00Z';
  const condition = { case: 'condition', value: { name: 'Asthma' } } as const;

  function put(userId: string) {
    const { ingestion } = harness;
    return [
      ingestion.putReadings({ userId, import: name, readings: [reading('Heart Rate', at10, 60)] }),
      ingestion.putHealthRecords({
        userId,
        import: name,
        records: [{ key: 'c1', source: 'ehr', record: condition }],
      }),
      ingestion.putProfile({ userId, import: name, name: 'Ada' }),
    ];
  }

  async function countRows(userId: string): Promise<number> {
    const options = await harness.about(userId);
    const { reads } = harness;
    const readings = bodyOf(await reads.read({ endpoint: Endpoint.HEALTH_DATA, category: 'heart' }, options))
      .pagination.total;
    const conditions = bodyOf(await reads.read({ endpoint: Endpoint.CONDITIONS }, options)).pagination.total;
    const profile = bodyOf(await reads.read({ endpoint: Endpoint.PROFILE }, options)).data;
    return readings + conditions + (profile.name === null ? 0 : 1);
  }

  test('are refused once the person was erased, and restore nothing', async () => {
    await start('not-back');
    await Promise.all(put('not-back'));
    expect(await countRows('not-back')).toBe(3);
    await harness.ingestion.eraseUser({ userId: 'not-back' });
    expect(await Promise.all(put('not-back').map(reasonOf))).toEqual(['not_found', 'not_found', 'not_found']);
    expect(await countRows('not-back')).toBe(0);
  });
});

describe('an invalid import', () => {
  test.each<[string, object, string]>([
    ['a format that is no name', { format: 'FHIR!' }, 'format'],
    ['a digest that is none', { digest: 'abc' }, 'digest'],
    ['a size beyond what counts exactly', { size: 2n ** 60n }, 'size'],
    ['no user', { userId: '' }, 'userId'],
  ])('is refused at the start: %s', async (_, change, parameter) => {
    const request = { userId: 'wrong', format: 'fhir', digest: DIGEST, size: 1n, ...change };
    const { violations } = await refusalOf(harness.ingestion.startImport(request));
    expect(violations.map((violation) => violation.parameter)).toEqual([parameter]);
  });

  test.each<[string, object, string]>([
    ['a report that is no JSON', { report: '{' }, 'report'],
    ['a report that is no object', { report: '[]' }, 'report'],
    ['a report that is too long', { report: `{"a":"${'x'.repeat(256 * 1024)}"}` }, 'report'],
    ['a state that is none', { state: 9 }, 'state'],
    ['a position beyond what counts exactly', { position: 2n ** 63n }, 'position'],
    ['a run beyond all runs', { run: 2 ** 32 - 1 }, 'run'],
  ])('is refused in a report: %s', async (_, change, parameter) => {
    await start('wrong');
    const key = { userId: 'wrong', format: 'fhir', digest: DIGEST };
    const request = { ...key, run: 1, position: 1n, report: '{}', state: ImportState.RUNNING, ...change };
    const { violations } = await refusalOf(harness.ingestion.reportImport(request));
    expect(violations.map((violation) => violation.parameter)).toEqual([parameter]);
  });
});
