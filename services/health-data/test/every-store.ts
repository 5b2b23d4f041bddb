import { randomUUID } from 'node:crypto';
import { ANY_TIME } from '@phds/catalog/fhir/dates';
import { getMetric } from '@phds/catalog/metrics';
import type pg from 'pg';
import { createChangePruning } from '../src/change-pruning.ts';
import { createChangeOutbox } from '../src/change-reports.ts';
import type { Placement } from '../src/database.ts';
import { createUserEraser } from '../src/erasure.ts';
import { createReadingSpans } from '../src/fhir/reading-spans.ts';
import { createImports } from '../src/imports.ts';
import { createReadingWriter } from '../src/ingest-readings.ts';
import { createRecordWriter } from '../src/ingest-records.ts';
import { createProfiles } from '../src/profiles.ts';
import { createReadingChanges } from '../src/reading-changes.ts';
import { createReadings } from '../src/readings.ts';
import { createHealthRecords } from '../src/records.ts';
import { createSandboxPeople } from '../src/sandbox.ts';
import { createSummaries } from '../src/summaries.ts';
import { createWeights } from '../src/weights.ts';
import { PATIENT_SCANS } from './patient-scans.ts';

export const USER = 'ada';
const AT = new Date('2026-01-02T10:00:00Z');
const ALWAYS = { from: null, to: null };
const PAGE = { limit: 20, offset: 0 };

export type Stores = ReturnType<typeof createStores>;

/** Every store of the service. */
export function createStores(pool: pg.Pool, placement?: Placement) {
  return {
    readings: createReadings(pool, undefined, placement),
    readingSpans: createReadingSpans(pool, undefined, placement),
    readingChanges: createReadingChanges(pool),
    changePruning: createChangePruning(pool, placement),
    summaries: createSummaries(pool, PATIENT_SCANS),
    weights: createWeights(pool),
    healthRecords: createHealthRecords(pool),
    profiles: createProfiles(pool),
    readingWriter: createReadingWriter(pool),
    recordWriter: createRecordWriter(pool),
    imports: createImports(pool),
    outbox: createChangeOutbox(pool, placement),
    people: createSandboxPeople(pool),
    eraser: createUserEraser(pool, undefined, placement),
  };
}

/** The stores, and the methods that were not called yet, as `store.method`. */
export function observe(stores: Stores): { stores: Stores; uncalled: Set<string> } {
  const entries = Object.entries(stores) as [string, object][];
  const uncalled = new Set(
    entries.flatMap(([name, store]) => Object.keys(store).map((key) => `${name}.${key}`)),
  );
  const get = (name: string) => (store: object, key: string) => {
    uncalled.delete(`${name}.${key}`);
    return Reflect.get(store, key);
  };
  const observed = entries.map(([name, store]) => [name, new Proxy(store, { get: get(name) })]);
  return { stores: Object.fromEntries(observed), uncalled };
}

/** Calls the methods that write, except those of erasures. */
export async function writeAll({
  profiles,
  readingWriter,
  recordWriter,
  imports,
  outbox,
}: Stores): Promise<void> {
  const reading = {
    metric: getMetric('heart-rate'),
    startAt: AT,
    endAt: AT,
    source: 'watch',
    id: randomUUID(),
  };
  const sleep = { ...reading, metric: getMetric('sleep-core'), id: randomUUID() };
  const steps = { ...reading, metric: getMetric('steps'), id: randomUUID() };
  const importKey = { userId: USER, format: 'fhir', digest: '0'.repeat(64) };
  await imports.start(importKey, 1n, false, AT);
  await imports.report(importKey, { run: 1, position: 0n, report: '{}' }, 'running', AT);
  await profiles.put(USER, { name: 'Ada', defaultTimeZone: 'Europe/Berlin' }, importKey);
  const readings = [reading, sleep, steps].map((one) => ({ ...one, value: 60 }));
  await readingWriter.put(USER, readings, importKey);
  await readingWriter.put(
    USER,
    readings.map((one) => ({ ...one, value: 61 })),
  );
  const medication = {
    name: 'A',
    sortName: 'a',
    dosage: null,
    frequency: null,
    condition: null,
    pattern: null,
  };
  const id = randomUUID();
  await recordWriter.put(USER, [{ kind: 'medication', id, source: 'ehr', fields: medication }]);
  await outbox.reportNext(
    10,
    async () => undefined,
    () => undefined,
  );
  await recordWriter.delete(USER, [{ kind: 'medication', id }]);
  const window = { metric: 'steps', source: null, range: ALWAYS } as const;
  await readingWriter.delete(USER, [reading], [window]);
}

/** Calls the methods that read. */
export async function readAll(stores: Stores): Promise<void> {
  const { readings, readingChanges, summaries, weights, healthRecords, profiles } = stores;
  const { imports, outbox, people } = stores;
  const list = { userId: USER, category: 'heart', metric: null, range: ALWAYS, ...PAGE } as const;
  for (const metric of [null, 'heart-rate'] as const)
    for (const offset of [0, 1, 5_001]) await readings.list({ ...list, metric, offset });
  const when = { startFrom: 0, startBefore: 1, endFrom: 0, endBefore: 1 };
  for (const by of ['category', 'type'] as const) {
    const subjects = [{ key: 'glucose' as const, avoidedSource: null }];
    const spans = { userId: USER, by, subjects, starts: null, when };
    await stores.readingSpans.listNewest({ ...spans, limit: 10 });
    await stores.readingSpans.listNewest({ ...spans, when: ANY_TIME, limit: 10 });
    await stores.readingSpans.count(spans);
  }
  await stores.changePruning.prune('', AT, 10);
  const from = await readingChanges.findPlace(USER, AT);
  await readingChanges.list({ ...list, since: null, limit: 10, from, anchor: null });
  const metrics = ['heart-rate', 'steps', 'sleep-core'] as const;
  for (const timeZone of ['Europe/Berlin', 'America/New_York', 'Asia/Kathmandu']) {
    const summary = { askedBy: 'app_1', userId: USER, metrics, timeZone, range: ALWAYS, since: null };
    await summaries.summarise(summary);
    for (const bucket of ['day', 'hour'] as const) await summaries.trend({ ...summary, ...PAGE, bucket });
    await weights.list({ userId: USER, timeZone, dates: ALWAYS, since: null, ...PAGE });
  }
  const kinds = [
    'symptom',
    'medication',
    'adherenceEntry',
    'condition',
    'allergy',
    'appointment',
    'moodEntry',
  ] as const;
  for (const kind of [...kinds, 'report', 'ehrRecord'] as const) {
    await healthRecords.list(kind, {
      userId: USER,
      range: { from: AT, to: AT },
      medicationId: randomUUID(),
      ...PAGE,
    });
    const dated = { userId: USER, ids: [randomUUID()], since: null, coverFrom: AT, statuses: null, when };
    await healthRecords.listNewest(kind, { ...dated, limit: 10 });
    await healthRecords.count(kind, dated);
    await healthRecords.listHeld(kind, { userId: USER, before: null, limit: 10 });
  }
  await healthRecords.listDoses({ userId: USER, since: null, limit: 10 });
  await healthRecords.hasMedication(USER, randomUUID());
  await profiles.find(USER);
  await profiles.findTimeZone(USER);
  await imports.list(USER, 10);
  await imports.countRunning(AT);
  await outbox.measure();
  await people.findNewest(USER, 'heart');
}
