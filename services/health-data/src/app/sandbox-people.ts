import { findSandboxUser, isSandboxApp, SANDBOX_PEOPLE, toSandboxUserId } from '@phds/catalog/sandbox';
import { invalidRequest, unavailable } from '@phds/service-kit/errors';
import type { FairTurns } from '@phds/service-kit/fair-turns';
import { putHealthRecords } from './ingest-health-records.ts';
import { putReadings } from './ingest-readings.ts';
import type { IngestionPorts, PutResult } from './ingestion.ts';
import type { Life, SandboxLives, SandboxPeopleStore } from './ports.ts';
import { putProfile } from './profile.ts';

export interface SandboxPorts extends IngestionPorts {
  readonly people: SandboxPeopleStore;
  readonly lives: SandboxLives;
}

/** While a batch is made, all other calls wait. This many readings take some 20 ms. */
const READINGS_AT_ONCE = 1_000;
const RECORDS_AT_ONCE = 500;

/** Data that is younger is complete enough. */
const FRESH_MS = 3_600_000;

/**
 * Prepares sandbox people. Everybody who opens the approval link of a sandbox app causes it, so concurrent calls for one person share
 * one preparation, and `turns` limits how many people's data is made at once, shared between apps.
 */
export function sharePreparations(
  ports: SandboxPorts,
  turns: Pick<FairTurns, 'take'>,
): (userId: string) => Promise<void> {
  const running = new Map<string, Promise<void>>();
  return (userId) => {
    const started =
      running.get(userId) ?? preparePerson(ports, turns, userId).finally(() => running.delete(userId));
    running.set(userId, started);
    return started;
  };
}

/**
 * Makes a sandbox person's data at the first use, and later adds what was measured since. Idempotent: readings and records have natural
 * keys, and the first data ends at the first use, so concurrent calls and a repeat after an interruption store the same.
 */
async function preparePerson(
  ports: SandboxPorts,
  turns: Pick<FairTurns, 'take'>,
  userId: string,
): Promise<void> {
  const { person, clientId } = parseSandboxUser(userId);
  const { people, lives } = ports;
  const now = ports.clock.now();
  const { begunAt, madeUntil } = await people.use(userId, now, lives.keepsArriving(person) ? now : null);
  if (madeUntil !== null && now.getTime() - madeUntil.getTime() < FRESH_MS) return;
  await turns.take(clientId, async () => {
    if (madeUntil === null) {
      await storeLife(ports, userId, lives.begin(person, userId, begunAt));
      await keep(ports, userId, begunAt);
    } else {
      await storeLife(ports, userId, lives.proceed(person, userId, madeUntil, now));
      await keep(ports, userId, now);
    }
  });
}

/** Longer than a grant that an approval in the sandbox makes, which lasts 90 days. */
const UNUSED_MS = 100 * 86_400_000;

/** Erases up to `limit` people whom nobody has used for 100 days, so that no grant of theirs is live; returns how many. */
export async function eraseUnused({ people, eraser, clock }: SandboxPorts, limit: number): Promise<number> {
  const usedBefore = new Date(clock.now().getTime() - UNUSED_MS);
  const unused = await people.findUnused(usedBefore, limit);
  for (const userId of unused) await eraser.eraseUnused(userId, usedBefore);
  return unused.length;
}

/** Removes the data of every person of a sandbox app; returns how many had any. */
export async function erasePeople(ports: SandboxPorts, clientId: string): Promise<number> {
  if (!isSandboxApp(clientId)) throw invalidRequest('clientId', 'must be a sandbox app');
  const userIds = SANDBOX_PEOPLE.map((person) => toSandboxUserId(clientId, person));
  const used = await ports.people.findUsed(userIds);
  for (const userId of used) await ports.eraser.erase(userId);
  return used.length;
}

/** The app and person of a user id. Throws `invalid_request` for everybody else. */
export function parseSandboxUser(userId: string) {
  const found = findSandboxUser(userId);
  if (found === null) throw invalidRequest('userId', 'must be a sandbox person');
  return found;
}

/** Erases what was stored for a person who was erased meanwhile. */
async function keep(ports: SandboxPorts, userId: string, until: Date): Promise<void> {
  if (await ports.people.made(userId, until)) return;
  await ports.eraser.erase(userId);
  throw unavailable('the sandbox person was erased meanwhile');
}

async function storeLife(ports: SandboxPorts, userId: string, life: Life): Promise<void> {
  if (life.profile !== null) await putProfile(ports.profiles, userId, life.profile);
  for await (const readings of toBatches(life.readings, READINGS_AT_ONCE)) {
    refuseRefusals(await putReadings(ports, userId, readings));
  }
  for await (const records of toBatches(life.records, RECORDS_AT_ONCE)) {
    refuseRefusals(await putHealthRecords(ports, userId, records));
  }
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
