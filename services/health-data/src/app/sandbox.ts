import type { Category } from '@phds/catalog/categories';
import { findMetricByName } from '@phds/catalog/metrics';
import type { Turns } from '@phds/service-kit/batcher';
import { AppError } from '@phds/service-kit/errors';
import { toArrival, toCorrection } from '../domain/sandbox-reading.ts';
import { putHealthRecords } from './ingest-health-records.ts';
import { deleteReadings, putReadings } from './ingest-readings.ts';
import type { IngestionPorts, PutResult } from './ingestion.ts';
import type { Life, SandboxPeopleStore } from './ports.ts';
import { putProfile } from './profile.ts';
import type { PublicIds } from './public-ids.ts';

// The made-up people of a sandbox deployment, and the changes of their readings that a developer lets happen.

export interface SandboxPorts extends IngestionPorts {
  readonly people: SandboxPeopleStore;
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
export function createPreparation(ports: SandboxPorts, turns: Turns): (userId: string) => Promise<void> {
  const running = new Map<string, Promise<void>>();
  const prepare = async (userId: string) => {
    if (await ports.people.hasProfile(userId)) return;
    await turns(userId, () => storeLife(ports, userId, ports.makeUp(userId, ports.clock.now())));
  };
  return (userId) => {
    const started = running.get(userId) ?? prepare(userId).finally(() => running.delete(userId));
    running.set(userId, started);
    return started;
  };
}

async function storeLife(ports: SandboxPorts, userId: string, life: Life): Promise<void> {
  for await (const readings of toBatches(life.readings, READINGS_AT_ONCE)) {
    refuseRefusals(await putReadings(ports, userId, readings));
  }
  for await (const records of toBatches(life.records, RECORDS_AT_ONCE)) {
    refuseRefusals(await putHealthRecords(ports, userId, records));
  }
  if (life.profile !== null) await putProfile(ports.profiles, userId, life.profile);
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
export type DataTrigger = 'arrive' | 'correct' | 'delete';

/** A reading that was changed, as an app names it. */
export interface ChangedReading {
  readonly category: Category;
  readonly id: string;
}

/**
 * Changes one reading of the first of these categories that has one; a new one arrives in the first. Returns which reading of the app it is;
 * null if nothing is different. Throws `conflict` when there is nothing to change.
 */
export async function changeData(
  ports: SandboxPorts,
  who: { readonly userId: string; readonly clientId: string },
  trigger: DataTrigger,
  categories: readonly [Category, ...Category[]],
): Promise<ChangedReading | null> {
  const { userId, clientId } = who;
  const toChanged = (category: Category, row: { readonly id: string }) => {
    const [id = ''] = ports.publicIds(clientId).toPublicIds('rdg', [row]);
    return { category, id };
  };
  if (trigger === 'arrive') {
    const [category] = categories;
    const arrival = toArrival(category, ports.clock.now());
    if (!isWritten(await putReadings(ports, userId, [arrival]))) return null;
    const row = await ports.people.findNewest(userId, category, ports.clock.now());
    return row === null ? null : toChanged(category, row);
  }
  for (const category of categories) {
    const row = await ports.people.findNewest(userId, category, null);
    if (row === null) continue;
    const { id: _, ...newest } = row;
    const metric = findMetricByName(newest.type);
    if (metric === null) throw new Error(`${newest.type} is no metric type`);
    const isChanged =
      trigger === 'delete'
        ? (await deleteReadings(ports, userId, [newest], [])) > 0
        : isWritten(await putReadings(ports, userId, [toCorrection(newest, metric)]));
    return isChanged ? toChanged(category, row) : null;
  }
  throw new AppError('conflict', 'The person has no reading that could be changed.');
}

function isWritten({ inserted, updated }: { inserted: number; updated: number }): boolean {
  return inserted + updated > 0;
}
