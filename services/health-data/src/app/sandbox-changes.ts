import type { Category } from '@phds/catalog/categories';
import { findMetricByName } from '@phds/catalog/metrics';
import { AppError } from '@phds/service-kit/errors';
import { startPeriodic } from '@phds/service-kit/periodic';
import { toArrival, toCorrection } from '../domain/sandbox-reading.ts';
import { deleteReadings, putReadings } from './ingest-readings.ts';
import { parseSandboxUser, type SandboxPorts } from './sandbox-people.ts';

/** What a developer lets happen to a sandbox person's readings. */
export type DataTrigger = 'arrive' | 'correct' | 'delete';

/** Changes of one person, by triggers and by arriving readings; bounds their data. */
const MAX_CHANGES = 20_000;

/**
 * Changes one reading of the first of these categories that has one; a new one arrives in the first. Returns whether anything is
 * different. Throws `conflict` when there is nothing to change, and when the person has no change left.
 */
export async function changeData(
  ports: SandboxPorts,
  userId: string,
  trigger: DataTrigger,
  categories: readonly [Category, ...Category[]],
): Promise<boolean> {
  parseSandboxUser(userId);
  const now = ports.clock.now();
  if (!(await ports.people.countChange(userId, now, MAX_CHANGES))) {
    const message = `The person is not in use, or has changed ${MAX_CHANGES.toLocaleString('en')} times, which is the most.`;
    throw new AppError('conflict', message);
  }
  if (trigger === 'arrive') return arrive(ports, userId, categories[0], now);
  const newest = await findNewest(ports, userId, categories);
  if (newest === null) throw new AppError('conflict', 'The person has no reading that could be changed.');
  if (trigger === 'delete') return (await deleteReadings(ports, userId, [newest], [])) > 0;
  const metric = findMetricByName(newest.type);
  if (metric === null) throw new Error(`${newest.type} is no metric type`);
  return isWritten(await putReadings(ports, userId, [toCorrection(newest, metric)]));
}

const ARRIVAL_MS = 60_000;
/** Readings keep arriving for a day after the last approval or trigger. */
const ARRIVING_MS = 24 * 3_600_000;
const ARRIVALS_AT_ONCE = 100;

/** Lets a reading a minute arrive for each person whose data keeps arriving. Disposal waits for a running turn. */
export function startArrivals(
  ports: SandboxPorts,
  { intervalMs, failureOf }: { intervalMs: number; failureOf: (task: string) => (error: unknown) => void },
): AsyncDisposable {
  const onFailure = failureOf('adding the arriving readings of sandbox people');
  return startPeriodic((signal) => letArrive(ports, signal), { intervalMs, onFailure });
}

async function letArrive(ports: SandboxPorts, signal: AbortSignal): Promise<void> {
  let taken = ARRIVALS_AT_ONCE;
  while (taken === ARRIVALS_AT_ONCE && !signal.aborted) {
    const now = ports.clock.now();
    const userIds = await ports.people.takeArrivals({
      now,
      next: new Date(now.getTime() + ARRIVAL_MS),
      usedSince: new Date(now.getTime() - ARRIVING_MS),
      maxChanges: MAX_CHANGES,
      limit: ARRIVALS_AT_ONCE,
    });
    for (const userId of userIds) await arrive(ports, userId, 'heart', now);
    taken = userIds.length;
  }
}

async function arrive(ports: SandboxPorts, userId: string, category: Category, now: Date): Promise<boolean> {
  return isWritten(await putReadings(ports, userId, [toArrival(category, now)]));
}

async function findNewest({ people }: SandboxPorts, userId: string, categories: readonly Category[]) {
  for (const category of categories) {
    const newest = await people.findNewest(userId, category);
    if (newest !== null) return newest;
  }
  return null;
}

function isWritten({ inserted, updated }: { inserted: number; updated: number }): boolean {
  return inserted + updated > 0;
}
