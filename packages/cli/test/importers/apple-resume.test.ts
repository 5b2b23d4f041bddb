import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { element, exportXml, metadata, recordXml } from '@phds/test-kit/apple-exports';
import { type FilesOfTest, openFilesOfTest } from '@phds/test-kit/files-of-test';
import { toZip } from '@phds/test-kit/zip-files';
import { appleImporter } from '../../src/importers/apple/importer.ts';
import { RepeatedReadings } from '../../src/importers/apple/repeated-readings.ts';
import type { ImportedReading } from '../../src/importers/ingest/importer.ts';
import { collect } from './collected-items.ts';

let files: FilesOfTest;

beforeEach(() => {
  files = openFilesOfTest();
});

afterEach(() => {
  files[Symbol.dispose]();
});

/** Large enough for several chunks; every hundredth heart rate repeats the first one. */
function largeExport(): string {
  const at = (index: number) =>
    `2024-01-${String(1 + (index % 28)).padStart(2, '0')} 10:${String(Math.trunc(index / 28) % 60).padStart(2, '0')}:00 +0100`;
  const records = Array.from({ length: 900 }, (_, index) => {
    const moment = at(index % 100 === 99 ? 0 : index);
    return recordXml(
      { sourceName: 'Zoë’s iPhone', value: String(60 + (index % 40)), startDate: moment, endDate: moment },
      metadata('note', 'x'.repeat(300)),
    );
  });
  return exportXml(
    element('Me', { HKCharacteristicTypeIdentifierBiologicalSex: 'HKBiologicalSexFemale' }),
    ...records,
  );
}

describe('an export that is resumed from a position', () => {
  test('yields what an uninterrupted run yields after that position, and the facts about the person', async () => {
    const recording = 'Datum,2024-01-05 10:00:00 +0100\n';
    const archive = toZip([
      { name: 'export.xml', content: largeExport() },
      { name: 'ecg_1.csv', content: recording },
      { name: 'ecg_2.csv', content: recording.replace('05', '06') },
      { name: 'route.gpx', content: '' },
    ]);
    const path = files.write('export.zip', archive);
    const whole = await collect(appleImporter, [path]);
    expect(whole.positions.length).toBeGreaterThan(5);
    expect(whole.positions).toEqual([...new Set(whole.positions)].toSorted((one, other) => one - other));
    let earlier = whole.readings.length + 1;
    for (const from of whole.positions) {
      const rest = await collect(appleImporter, [path], { from });
      expect(rest.positions).toEqual(whole.positions.filter((position) => position > from));
      expect(rest.readings).toEqual(whole.readings.slice(whole.readings.length - rest.readings.length));
      expect(rest.readings.length).toBeLessThanOrEqual(earlier);
      // Repetitions are detected even if the first reading is before the position.
      expect(rest.refused).toEqual(whole.refused.slice(whole.refused.length - rest.refused.length));
      expect(rest.profile).toEqual(whole.profile);
      earlier = rest.readings.length;
    }
    const end = await collect(appleImporter, [path], { from: whole.positions.at(-1) ?? 0 });
    expect([end.readings, end.records, end.leftOut, end.refused]).toEqual([[], [], [], []]);
  });
});

test('an element that ends at the position is before it', async () => {
  const [first, second] = [
    recordXml({ value: '1' }),
    recordXml({ value: '2', startDate: '2024-01-05 10:01:00 +0100' }),
  ];
  const path = files.write('export.xml', `<HealthData>${first}${second}</HealthData>`);
  const valuesFrom = async (from: number) =>
    (await collect(appleImporter, [path], { from })).readings.map(({ value }) => value);
  const end = '<HealthData>'.length + first.length;
  expect(await valuesFrom(end - 1)).toEqual([1, 2]);
  expect(await valuesFrom(end)).toEqual([2]);
});

test('the time zone is that of the newest sample that is not from the future', async () => {
  const sample = (year: string, zone: string) =>
    recordXml(
      { startDate: `${year}-01-05 10:00:00 +0100`, endDate: `${year}-01-05 10:00:00 +0100` },
      metadata('HKTimeZone', zone),
    );
  const xml = exportXml(
    sample('2022', 'Europe/Oslo'),
    sample('2023', 'America/New_York'),
    sample('2021', 'Asia/Tokyo'),
    sample('2024', 'Mars/Base'),
    sample('2025', '+01:00'),
    sample('9999', 'Asia/Tokyo'),
  );
  const zoneOf = async (content: string) => {
    const request = {
      paths: [files.write('export.xml', content)],
      patient: null,
      onChecked: () => undefined,
    };
    await using source = await appleImporter.open(request);
    return source.timeZone;
  };
  expect(await zoneOf(xml)).toBe('America/New_York');
  expect(await zoneOf(exportXml())).toBeNull();
});

describe('repeated readings in a file', () => {
  const reading = (change: Partial<ImportedReading> = {}): ImportedReading => ({
    type: 'Steps',
    start: Date.UTC(2024, 0, 1),
    end: Date.UTC(2024, 0, 1, 0, 1),
    value: 1,
    unit: 'count',
    source: 'iphone',
    ...change,
  });

  test('are detected by type, times and source', () => {
    const repeated = new RepeatedReadings();
    expect(repeated.standingOf('StepCount', reading())).toBe('first');
    for (const change of [
      { source: 'ipad' },
      { start: 0 },
      { end: Date.UTC(2024, 0, 2) },
      { type: 'Flights' } as const,
    ]) {
      expect(repeated.standingOf('StepCount', reading(change))).toBe('first');
    }
    expect(repeated.standingOf('StepCount', reading())).toBe('repeated');
    expect(repeated.standingOf('StepCount', reading({ value: 2 }))).toBe('contradicted');
    expect(repeated.standingOf('StepCount', reading({ start: -1e15 }))).toBe('first');
  });

  test('are detected among many', () => {
    const repeated = new RepeatedReadings();
    const at = (index: number, value = index) =>
      reading({ start: index * 1000, end: index * 1000 + (index % 7) * 1000, value });
    const standings = (value?: number) =>
      new Set(Array.from({ length: 100_000 }, (_, index) => repeated.standingOf('a', at(index, value))));
    expect(standings()).toEqual(new Set(['first']));
    expect(standings()).toEqual(new Set(['repeated']));
    expect(standings(-1)).toEqual(new Set(['contradicted']));
  });

  test('are remembered up to a limit, and for one type at a time', () => {
    const repeated = new RepeatedReadings(2);
    expect(repeated.standingOf('a', reading())).toBe('first');
    expect(repeated.standingOf('a', reading({ start: 0, end: 0 }))).toBe('first');
    expect(repeated.standingOf('a', reading())).toBe('first');
    expect(repeated.standingOf('b', reading())).toBe('first');
  });
});
