import { randomUUID } from 'node:crypto';
import { getMetric } from '@phds/catalog/metrics';
import type pg from 'pg';
import type { Placement } from '../src/store/database.ts';
import { createPgChangeOutbox } from '../src/store/pg-change-outbox.ts';
import { createPgChangePruning } from '../src/store/pg-change-pruning.ts';
import { createPgHealthRecords, createPgHealthRecordWriter } from '../src/store/pg-health-records.ts';
import { createPgImports } from '../src/store/pg-imports.ts';
import { createPgProfileWriter } from '../src/store/pg-profile-writer.ts';
import { createPgProfiles } from '../src/store/pg-profiles.ts';
import { createPgReadingChanges } from '../src/store/pg-reading-changes.ts';
import { createPgReadingSpans } from '../src/store/pg-reading-spans.ts';
import { createPgReadingWriter } from '../src/store/pg-reading-writer.ts';
import { createPgReadings } from '../src/store/pg-readings.ts';
import { createPgSandboxPeople } from '../src/store/pg-sandbox-people.ts';
import { createPgSummaries } from '../src/store/pg-summaries.ts';
import { createPgUserEraser } from '../src/store/pg-user-eraser.ts';
import { createPgWeights } from '../src/store/pg-weights.ts';
import { PATIENT_SCANS } from './patient-scans.ts';

export const USER = 'ada';
const AT = new Date('2026-01-02T10:00:00Z');
const ALWAYS = { from: null, to: null };
const PAGE = { limit: 20, offset: 0 };

export type Stores = ReturnType<typeof createStores>;

/** Every store of the service. */
export function createStores(pool: pg.Pool, placement?: Placement) {
  return {
    readings: createPgReadings(pool, undefined, placement),
    readingSpans: createPgReadingSpans(pool),
    readingChanges: createPgReadingChanges(pool),
    changePruning: createPgChangePruning(pool, placement),
    summaries: createPgSummaries(pool, PATIENT_SCANS),
    weights: createPgWeights(pool),
    healthRecords: createPgHealthRecords(pool),
    profiles: createPgProfiles(pool),
    profileWriter: createPgProfileWriter(pool),
    readingWriter: createPgReadingWriter(pool),
    recordWriter: createPgHealthRecordWriter(pool),
    imports: createPgImports(pool),
    outbox: createPgChangeOutbox(pool, placement),
    people: createPgSandboxPeople(pool),
    eraser: createPgUserEraser(pool, undefined, placement),
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
  profileWriter,
  readingWriter,
  recordWriter,
  imports,
  outbox,
  people,
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
  await people.hasProfile(USER);
  await imports.start(importKey, 1, false, AT);
  await imports.report(importKey, { run: 1, position: 0, report: '{}' }, 'running', AT);
  await profileWriter.put(USER, { name: 'Ada', defaultTimeZone: 'Europe/Berlin' }, importKey);
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
    'adherence-entry',
    'condition',
    'allergy',
    'appointment',
    'mood-entry',
  ] as const;
  for (const kind of [...kinds, 'report', 'ehr-record'] as const) {
    await healthRecords.list(kind, {
      userId: USER,
      range: { from: AT, to: AT },
      medicationId: randomUUID(),
      ...PAGE,
    });
    const dated = { userId: USER, ids: [randomUUID()], since: null, coverFrom: AT, statuses: null, when };
    await healthRecords.listNewest(kind, { ...dated, limit: 10 });
    await healthRecords.count(kind, dated);
  }
  await healthRecords.listDoses({ userId: USER, since: null, limit: 10 });
  await healthRecords.hasMedication(USER, randomUUID());
  await profiles.find(USER);
  await profiles.findTimeZone(USER);
  await imports.list(USER, 10);
  await imports.countRunning(AT);
  await outbox.measure();
  await people.findNewest(USER, 'heart', AT);
}
