import { describe, expect, test } from '@jest/globals';
import { OWN_DATA } from '@phds/catalog/own-data';
import { SESSION_METADATA } from '@phds/service-kit/rpc/context';
import { at, reading, reasonOf, shareHarness } from './harness.ts';

const harness = await shareHarness();

async function readAll(userId: string, kind: string) {
  const headers = { [SESSION_METADATA]: await harness.sessions.issueSession(userId) };
  const pages: Record<string, unknown>[][] = [];
  let beforeMs: bigint | undefined;
  do {
    const page = await harness.previews.readOwn(
      { kind, ...(beforeMs === undefined ? {} : { beforeMs }) },
      { headers },
    );
    pages.push(JSON.parse(new TextDecoder().decode(page.items)));
    beforeMs = page.nextBeforeMs;
  } while (beforeMs !== undefined);
  return pages;
}

const dose = (key: string, medicationKey: string, day: string) => ({
  key,
  source: 'ehr',
  record: { case: 'adherenceEntry' as const, value: { medicationKey, status: 'taken', takenAt: at(day) } },
});

describe('ReadOwn', () => {
  test('gives all readings of a type in pages, each once, also those that start together at the end of a page', async () => {
    const first = Date.parse('2026-01-01T00:00:00Z');
    const isoOf = (index: number) => new Date(first + index * 60_000).toISOString();
    const sent = Array.from({ length: 4_100 }, (_, index) => reading('Heart Rate', isoOf(index), 60));
    // The 2,000th newest starts at the same time as two others.
    const ofOthers = ['iphone', 'oura'].map((source) => reading('Heart Rate', isoOf(2_100), 61, { source }));
    await harness.putReadings('many', [...sent, ...ofOthers].slice(0, 2_500));
    await harness.putReadings('many', [...sent, ...ofOthers].slice(2_500));
    const pages = await readAll('many', 'heart-rate');
    expect(pages.length).toBeGreaterThan(2);
    const all = pages.flat();
    expect(all).toHaveLength(4_102);
    expect(new Set(all.map((item) => JSON.stringify(item))).size).toBe(4_102);
    expect(all.map(({ timestamp }) => timestamp)).toEqual(
      all
        .map(({ timestamp }) => timestamp)
        .toSorted()
        .reverse(),
    );
    expect(all[0]).toEqual({
      type: 'Heart Rate',
      value: 60,
      unit: '/min',
      timestamp: isoOf(4_099),
      end: isoOf(4_099),
      source: 'apple-watch',
    });
  });

  test('gives all records in pages as they are held, with doses of medications that are not there, and without ids', async () => {
    await harness.ingestion.putProfile({ userId: 'held', name: 'Ada', timeZone: 'Europe/Berlin' });
    const symptoms = Array.from({ length: 1_001 }, (_, index) => ({
      key: `s${index}`,
      source: 'ehr',
      record: {
        case: 'symptom' as const,
        value: {
          description: `pain ${index}`,
          timestamp: at(new Date(1_700_000_000_000 + index * 1_000).toISOString()),
        },
      },
    }));
    await harness.putHealthRecords('held', symptoms.slice(0, 1_000));
    await harness.putHealthRecords('held', symptoms.slice(1_000));
    await harness.putHealthRecords('held', [
      { key: 'a', source: 'ehr', record: { case: 'medication', value: { name: 'Aspirin' } } },
      dose('d1', 'a', '2026-02-01T08:00:00Z'),
      dose('d2', 'gone', '2026-02-02T08:00:00Z'),
      {
        key: 'c',
        source: 'ehr',
        record: { case: 'condition', value: { name: 'Asthma', sinceDate: '2019' } },
      },
    ]);
    const pages = await readAll('held', 'symptom');
    expect(pages.length).toBe(3);
    expect(new Set(pages.flat().map(({ description }) => description)).size).toBe(1_001);
    expect((await readAll('held', 'adherenceEntry')).flat()).toMatchObject([
      { at: '2026-02-02T08:00:00.000Z', medication: null, source: 'ehr' },
      { at: '2026-02-01T08:00:00.000Z', medication: 'Aspirin', source: 'ehr' },
    ]);
    expect((await readAll('held', 'condition')).flat()).toEqual([
      { name: 'Asthma', severity: null, sinceDate: '2019', source: 'ehr' },
    ]);
    expect((await readAll('held', 'profile')).flat()).toMatchObject([
      { name: 'Ada', timeZone: 'Europe/Berlin' },
    ]);
    const kinds = await Promise.all(OWN_DATA.map(({ kind }) => readAll('held', kind)));
    const fields = kinds.flat(2).flatMap((item) => Object.keys(item));
    expect(fields.filter((name) => /id$/i.test(name))).toEqual([]);
  });

  test('knows every kind of the archive, and refuses others and calls without a session', async () => {
    for (const { kind } of OWN_DATA) expect(await readAll('nobody', kind)).toEqual([[]]);
    expect(await reasonOf(readAll('nobody', 'everything'))).toBe('invalid_request');
    expect(await reasonOf(harness.previews.readOwn({ kind: 'profile' }))).toBe('unauthorized');
  });
});
