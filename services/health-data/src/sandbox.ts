import { timestampFromDate, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { type Category, isCategory } from '@phds/catalog/categories';
import {
  findMetricByName,
  getMetric,
  type Metric,
  type MetricKey,
  metricsOfCategory,
  roundToDecimals,
} from '@phds/catalog/metrics';
import { SandboxDataChange, SandboxService } from '@phds/contracts/phds/healthdata/v1/sandbox_pb';
import type { Turns } from '@phds/service-kit/batcher';
import { AppError, invalidRequest } from '@phds/service-kit/errors';
import { isId } from '@phds/service-kit/ids';
import { queryRows, readStatement } from '@phds/service-kit/postgres/sql';
import { implement } from '@phds/service-kit/rpc/service';
import type pg from 'pg';
import type { PutResult } from './batches.ts';
import {
  deleteReadings,
  parseReadingKey,
  putReadings,
  type ReadingDraft,
  type ReadingIngestion,
} from './ingest-readings.ts';
import { putHealthRecords, type RecordIngestion } from './ingest-records.ts';
import { type ProfileDraft, type Profiles, putProfile } from './profiles.ts';
import type { PublicIds } from './public-ids.ts';
import type { HealthRecordDraft } from './record-kinds.ts';
import { toReadingId } from './row-ids.ts';

/** Data of a made-up person. The same person and times always give the same data. */
export interface Life {
  /** Null when there is none, or none to add. */
  readonly profile: ProfileDraft | null;
  readonly readings: Iterable<ReadingDraft>;
  readonly records: Iterable<HealthRecordDraft>;
}

// The made-up people of a sandbox deployment, and the changes of their readings that a developer lets happen.

export interface SandboxParts extends ReadingIngestion, RecordIngestion {
  readonly profiles: Profiles;
  readonly pool: pg.Pool;
  /** Makes up what is known of a person until now. */
  readonly makeUp: (userId: string, until: Date) => Life;
  readonly publicIds: PublicIds;
}

/** While a batch is made, all other calls wait. This many readings take some 20 ms. */
const READINGS_AT_ONCE = 1_000;
const RECORDS_AT_ONCE = 500;

/**
 * Makes a person's data unless there is some. Concurrent calls for one person share one preparation, and `turns` limits how many people's
 * data is made at once. The profile is stored last and tells that the data is complete. A repeat after an interruption stores the rest,
 * because readings and records have natural keys.
 */
export function createPreparation(parts: SandboxParts, turns: Turns): (userId: string) => Promise<void> {
  const running = new Map<string, Promise<void>>();
  const prepare = async (userId: string) => {
    if ((await parts.profiles.find(userId)) !== null) return;
    await turns(userId, () => storeLife(parts, userId, parts.makeUp(userId, parts.clock.now())));
  };
  return (userId) => {
    const started = running.get(userId) ?? prepare(userId).finally(() => running.delete(userId));
    running.set(userId, started);
    return started;
  };
}

async function storeLife(parts: SandboxParts, userId: string, life: Life): Promise<void> {
  for await (const readings of toBatches(life.readings, READINGS_AT_ONCE)) {
    refuseRefusals(await putReadings(parts, { userId, readings }));
  }
  for await (const records of toBatches(life.records, RECORDS_AT_ONCE)) {
    refuseRefusals(await putHealthRecords(parts, { userId, records }));
  }
  if (life.profile !== null) await putProfile(parts.profiles, { ...life.profile, userId });
}

function refuseRefusals({ refusals: [first] }: PutResult): void {
  if (first !== undefined) throw new Error(`made-up item ${first.index} was refused: ${first.reason}`);
}

/** Other work has its turn after each batch. */
async function* toBatches<Item>(items: Iterable<Item>, size: number): AsyncGenerator<Item[]> {
  let batch: Item[] = [];
  for (const item of items) {
    batch.push(item);
    if (batch.length < size) continue;
    yield batch;
    await new Promise((resolve) => setImmediate(resolve));
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** What a developer lets happen to a person's readings. */
type DataTrigger = 'arrive' | 'correct' | 'delete';

/** A reading that was changed, as an app names it. */
interface ChangedReading {
  readonly category: Category;
  readonly id: string;
}

/**
 * Changes one reading of the first of these categories that has one; a new one arrives in the first. Returns which reading of the app it is;
 * null if nothing is different. Throws `conflict` when there is nothing to change.
 */
export async function changeData(
  parts: SandboxParts,
  who: { readonly userId: string; readonly clientId: string },
  trigger: DataTrigger,
  categories: readonly [Category, ...Category[]],
): Promise<ChangedReading | null> {
  const { userId, clientId } = who;
  const toChanged = (category: Category, row: { readonly id: string }) => {
    const [id = ''] = parts.publicIds(clientId).toPublicIds('rdg', [row]);
    return { category, id };
  };
  if (trigger === 'arrive') {
    const [category] = categories;
    const arrival = toArrival(category, parts.clock.now());
    if (!isWritten(await putReadings(parts, { userId, readings: [arrival] }))) return null;
    return toChanged(category, { id: toReadingId(userId, parseReadingKey(arrival)) });
  }
  for (const category of categories) {
    const row = await findNewest(parts.pool, userId, category);
    if (row === null) continue;
    const { id: _, ...newest } = row;
    const metric = findMetricByName(newest.type);
    if (metric === null) throw new Error(`${newest.type} is no metric type`);
    const isChanged =
      trigger === 'delete'
        ? (await deleteReadings(parts, { userId, keys: [newest] })) > 0
        : isWritten(await putReadings(parts, { userId, readings: [toCorrection(newest, metric)] }));
    return isChanged ? toChanged(category, row) : null;
  }
  throw new AppError('conflict', 'The person has no reading that could be changed.');
}

function isWritten({ inserted, updated }: { inserted: number; updated: number }): boolean {
  return inserted + updated > 0;
}

const FIND_NEWEST = readStatement(new URL('sql/find-newest-reading.sql', import.meta.url));

interface NewestRow {
  readonly id: string;
  readonly type: MetricKey;
  readonly start: Date;
  readonly end: Date;
  readonly value: number;
  readonly source: string;
}

/** The newest reading of a category that has a value, with its row id; null if there is none. */
async function findNewest(
  pool: pg.Pool,
  userId: string,
  category: Category,
): Promise<(ReadingDraft & { readonly id: string; readonly value: number }) | null> {
  const [row] = await queryRows<NewestRow>(pool, FIND_NEWEST, userId, category);
  if (row === undefined) return null;
  const { id, value, source } = row;
  const times = { start: timestampFromDate(row.start), end: timestampFromDate(row.end) };
  return { id, ...times, type: getMetric(row.type).name, value, unit: '', source };
}

/** An ordinary value of the first type of each category. */
const ORDINARY: Readonly<Record<Category, number>> = {
  heart: 68,
  'blood-pressure': 118,
  oxygen: 97,
  respiratory: 14,
  glucose: 92,
  temperature: 36.7,
  activity: 40,
  sleep: 30,
  'body-composition': 68,
  mindfulness: 10,
};

const SOURCE = 'apple-watch';

/** Steps of the last decimal by which values differ. */
const STEPS = 5;

/** A reading that arrives now. Its value depends on the time only. */
function toArrival(category: Category, now: Date): ReadingDraft {
  const seconds = Math.floor(now.getTime() / 1000);
  const start = timestampFromMs(seconds * 1000);
  const metric = firstMetric(category);
  const value = shift(metric, ORDINARY[category], (seconds % (2 * STEPS + 1)) - STEPS);
  return { type: metric.name, start, value, unit: '', source: SOURCE };
}

/** The same reading with another value. */
function toCorrection(reading: ReadingDraft & { readonly value: number }, metric: Metric): ReadingDraft {
  const higher = shift(metric, reading.value, STEPS);
  const isPlausible = higher <= metric.plausible.max;
  return { ...reading, value: isPlausible ? higher : shift(metric, reading.value, -STEPS) };
}

function firstMetric(category: Category): Metric {
  const [metric] = metricsOfCategory(category);
  if (metric === undefined) throw new RangeError(`${category} has no metric type`);
  return metric;
}

function shift({ decimals }: Metric, value: number, steps: number): number {
  return roundToDecimals(value + steps / 10 ** decimals, decimals);
}

/** phds.healthdata.v1.SandboxService. Registered in a sandbox deployment only. */
export function createSandboxService(parts: SandboxParts, turns: Turns) {
  const prepare = createPreparation(parts, turns);
  return implement(
    SandboxService,
    {
      async preparePerson({ userId }) {
        if (userId === '') throw invalidRequest('userId', 'is required');
        await prepare(userId);
        return {};
      },
      async changeData({ userId, clientId, change, categories }) {
        const trigger = TRIGGERS[change];
        if (trigger === null) throw invalidRequest('change', 'is missing or unknown');
        if (userId === '' || !isId('app', clientId)) throw invalidRequest('clientId', 'must be an app');
        const who = { userId, clientId };
        return (await changeData(parts, who, trigger, parseCategories(categories))) ?? {};
      },
    },
    { preparePerson: ['gateway'], changeData: ['gateway'] },
  );
}

const TRIGGERS: Readonly<Record<SandboxDataChange, DataTrigger | null>> = {
  [SandboxDataChange.UNSPECIFIED]: null,
  [SandboxDataChange.ARRIVE]: 'arrive',
  [SandboxDataChange.CORRECT]: 'correct',
  [SandboxDataChange.DELETE]: 'delete',
};

function parseCategories(names: readonly string[]): [Category, ...Category[]] {
  const unknown = names.filter((name) => !isCategory(name));
  if (unknown.length > 0) throw invalidRequest('categories', `unknown: ${unknown.join(', ')}`);
  const [first, ...rest] = names.filter(isCategory);
  if (first === undefined) throw invalidRequest('categories', 'is required');
  return [first, ...rest];
}
