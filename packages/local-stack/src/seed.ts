import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import { IngestionService, type PutResult } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import { openRpcChannel } from '@phds/service-kit/rpc/client';
import type { ServiceTokenSource } from '@phds/service-kit/trust/callers';
import { ADA, GRACE, SPARSE } from '@phds/synthetic/people';
import type { SyntheticReading } from '@phds/synthetic/reading';
import { recordsIn } from '@phds/synthetic/records';
import { openTimeline, readingsIn, type Timeline } from '@phds/synthetic/timeline';

const DEADLINE_MS = 30_000;
const DAY_MS = 86_400_000;

/**
 * Creates the synthetic users' data through the ingestion rpc: `ada` and `grace` with data of every kind, `sparse` with a little,
 * `empty` with none. With `since`, the data up to there exists, and only the measurements of `ada` and `grace` after it are added.
 * Idempotent for the same instants. Throws when anything is refused.
 */
async function seedUsers(
  address: string,
  tokens: ServiceTokenSource,
  { since, until }: { readonly since: Date | null; readonly until: Date },
): Promise<void> {
  using channel = openRpcChannel({ address, audience: 'health-data', tokens, deadlineMs: DEADLINE_MS });
  const ingestion = channel.client(IngestionService);
  const timelines = since === null ? openLives(until) : openNewDays(since, until);
  await Promise.all(timelines.map((timeline) => sendTimeline(ingestion, timeline)));
}

function openLives(until: Date): Timeline[] {
  return [ADA, GRACE, SPARSE].map((person) => openTimeline(person, { until: until.getTime() }));
}

/** From the day of `since`, which is sent again as a whole. Appointments and doctors' entries stay as they were made first. */
function openNewDays(since: Date, until: Date): Timeline[] {
  const days = Math.ceil((until.getTime() - since.getTime()) / DAY_MS) + 1;
  return [ADA, GRACE].map((person) => {
    const timeline = openTimeline(person, { until: until.getTime(), days });
    return {
      ...timeline,
      person: { ...person, history: { ...person.history, appointments: [], careRecords: [] } },
    };
  });
}

const READINGS_PER_CALL = 5_000;
const RECORDS_PER_CALL = 500;

type Ingestion = Client<typeof IngestionService>;

/** Sends a synthetic life: profile, readings, records. Idempotent. Throws when anything is refused. */
async function sendTimeline(ingestion: Ingestion, timeline: Timeline): Promise<void> {
  const { id: userId, profile, timeZone } = timeline.person;
  if (profile !== null) await ingestion.putProfile({ userId, ...profile, timeZone });
  for (const batch of toBatches(readingsIn(timeline), READINGS_PER_CALL)) {
    const { result } = await ingestion.putReadings({ userId, readings: batch.map(toMessage) });
    refuseRefusals(userId, result);
  }
  for (const records of toBatches(recordsIn(timeline), RECORDS_PER_CALL)) {
    const { result } = await ingestion.putHealthRecords({ userId, records });
    refuseRefusals(userId, result);
  }
}

function toMessage({ type, start, end, value, source }: SyntheticReading) {
  return { type, start: timestampFromMs(start), end: timestampFromMs(end), value, source };
}

function refuseRefusals(userId: string, result: PutResult | undefined): void {
  const [first] = result?.refusals ?? [];
  if (first === undefined) return;
  throw new Error(`synthetic data of ${userId} was refused: item ${first.index}: ${first.reason}`);
}

function* toBatches<Item>(items: Iterable<Item>, size: number): Generator<Item[]> {
  let batch: Item[] = [];
  for (const item of items) {
    batch.push(item);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/**
 * Creates the synthetic users' data up to `until`. `file` records how far it reaches, so a later run adds only what is missing. If
 * interrupted, it is repeated; existing data is kept.
 */
export async function seedUntil(
  file: string,
  address: string,
  tokens: ServiceTokenSource,
  until = new Date(),
): Promise<void> {
  const since = existsSync(file) ? new Date(JSON.parse(readFileSync(file, 'utf8')).seededAt) : null;
  if (since !== null && since >= until) return;
  await seedUsers(address, tokens, { since, until });
  await writeFile(file, `${JSON.stringify({ seededAt: until.toISOString() })}\n`);
}
