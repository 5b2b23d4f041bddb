import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { METRICS, type MetricName, roundToDecimals } from '@phds/catalog/metrics';
import { parseDay } from '@phds/synthetic/calendar';
import { ADA } from '@phds/synthetic/people/ada';
import { GRACE } from '@phds/synthetic/people/grace';
import { HEAVY } from '@phds/synthetic/people/heavy';
import { TRAVELLER } from '@phds/synthetic/people/traveller';
import type { SyntheticReading } from '@phds/synthetic/reading';
import { recordsIn } from '@phds/synthetic/records';
import { endOfDay, openTimeline, readingsIn, type Timeline } from '@phds/synthetic/timeline';
import { isInFhir } from '@phds/synthetic/write/fhir';
import { type Format, topicsOf, writeTimeline } from '@phds/synthetic/write/formats';
import { type FilesOfTest, openFilesOfTest } from '@phds/test-kit/files-of-test';
import { appleImporter } from '../../src/importers/apple/importer.ts';
import { csvImporter } from '../../src/importers/csv/importer.ts';
import { fhirImporter } from '../../src/importers/fhir/importer.ts';
import type { Importer } from '../../src/importers/ingest/importer.ts';
import { type CollectedItems, collect, type ReadingText } from './collected-items.ts';

let files: FilesOfTest;
beforeEach(() => {
  files = openFilesOfTest();
});
afterEach(() => files[Symbol.dispose]());

// Summer and winter, clock changes, and a trip to an island with half-hour clock changes. `pnpm nightly` takes all of them.
const LIVES = [
  { person: ADA, until: '2026-03-31', days: 14 },
  { person: TRAVELLER, until: '2026-04-14', days: 8 },
  { person: GRACE, until: '2025-11-04', days: 14 },
  { person: HEAVY, until: '2026-01-31', days: 2 },
].slice(0, process.env['IMPORT_ROUND_TRIPS'] === 'all' ? undefined : 2);

const importers: Readonly<Record<Format, Importer>> = {
  apple: appleImporter,
  fhir: fhirImporter,
  ndjson: fhirImporter,
  csv: csvImporter,
};

const decimals = new Map<MetricName, number>(METRICS.map((metric) => [metric.name, metric.decimals]));

// Factors of the units in the formats; all others are the unit of the type.
const FACTORS: Readonly<Record<string, number>> = { km: 1000 };

/** A reading as stored by health-data. */
function toStored({ type, start, end, value, unit, source }: ReadingText): string {
  const factor = unit === '%' && (value ?? 0) <= 1 ? 100 : (FACTORS[unit] ?? 1);
  return [type, start, end, roundToDecimals((value ?? 0) * factor, decimals.get(type) ?? 0), source].join();
}

function toExpected({ type, start, end, value, source }: SyntheticReading, label: string = source): string {
  const text = (instant: number) => new Date(instant).toISOString().replace('.000Z', 'Z');
  return [type, text(start), text(end), value, label].join();
}

async function roundTrip(timeline: Timeline, format: Format): Promise<CollectedItems> {
  const path = files.write(`data.${format}`, [...writeTimeline(timeline, format)].join(''));
  return await collect(importers[format], [path]);
}

describe.each(LIVES)('the data of $person.id', ({ person, until, days }) => {
  const open = (format: Format) =>
    openTimeline(person, {
      until: endOfDay(person, parseDay(until) ?? 0),
      extent: { days },
      topics: topicsOf(format),
    });

  const { name, gender, dateOfBirth, bloodType } = person.profile ?? {};

  test.each<[Format, object]>([
    ['apple', { gender, dateOfBirth, bloodType }],
    ['csv', {}],
  ])('is read back from %s, reading by reading', async (format, facts) => {
    const { readings, refused, profile } = await roundTrip(open(format), format);
    const expected = [...readingsIn(open(format))].map((reading) => toExpected(reading));
    expect(expected.length).toBeGreaterThan(2_000);
    expect(readings.map(toStored).toSorted()).toEqual(expected.toSorted());
    expect(refused).toEqual([]);
    expect(profile).toMatchObject(facts);
  });

  test.each<Format>(['fhir', 'ndjson'])('is read back from %s as a clinical record', async (format) => {
    const { readings, refused, leftOut, profile } = await roundTrip(open(format), format);
    const expected = [...readingsIn(open(format))].filter(isInFhir);
    expect(readings.map(toStored).toSorted()).toEqual(
      expected.map((reading) => toExpected(reading, 'ehr')).toSorted(),
    );
    expect([refused, leftOut]).toEqual([[], []]);
    expect(profile).toEqual({ name, gender, dateOfBirth });
  });
});

test.each([ADA, GRACE])('the medical history of $id survives a round trip through FHIR', async (person) => {
  const timeline = openTimeline(person, { until: endOfDay(person, parseDay('2026-03-31') ?? 0) });
  const { records } = await roundTrip(timeline, 'fhir');
  const kinds = ['condition', 'allergy', 'medication', 'appointment', 'ehrRecord'];
  const contents = (list: Iterable<{ record?: { case?: string | undefined; value?: unknown } }>) =>
    [...list].flatMap(({ record }) => (kinds.includes(record?.case ?? '') ? [record] : []));
  // The importer adds the class of visit.
  const text = (content: unknown) => JSON.stringify(content, ordered).replace('; ambulatory', '');
  const stored = contents(records).map(text);
  expect(stored.toSorted()).toEqual(contents(recordsIn(timeline)).map(text).toSorted());
  expect(stored.length).toBeGreaterThan(14);
});

/** Sorts members and supports integers of any size. */
function ordered(_name: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
