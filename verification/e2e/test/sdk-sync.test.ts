import { expect, test } from '@jest/globals';
import { ingest, ingestReadings } from '@phds/running-system/ingestion';
import { registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { useSharedStack } from '@phds/running-system/shared-stack';
import type { SyncBatch } from '@phds/sdk';

const USER = 'sdk-sync';
const READINGS = 25;
const START = Date.parse('2026-03-01T08:00:00Z');

const timeOf = (minute: number) => new Date(START + minute * 60_000).toISOString();
const reading = (minute: number, value = 60 + minute) => ({
  type: 'Heart Rate',
  start: timeOf(minute),
  value,
});

const stack = await useSharedStack();
const session = await signIn(stack, USER);
await ingestReadings(
  stack,
  USER,
  Array.from({ length: READINGS }, (_, minute) => reading(minute)),
);
const app = await registerApp(stack.gateway, session);
const client = app.client();
const { callbackUrl, kept } = await app.ask(session, { scopes: ['read:health-data:heart'] }, {}, client);
const connection = await client.exchange(callbackUrl, kept);

/** What a partner keeps: readings by id, and the cursor stored with them. */
class Copy {
  readonly values = new Map<string, number | null>();
  cursor: string | null = null;
  changes = 0;

  store({ changes, cursor }: SyncBatch): void {
    for (const change of changes) {
      if (change.deleted) this.values.delete(change.id);
      else this.values.set(change.id, change.value);
    }
    this.changes = changes.length;
    this.cursor = cursor;
  }
}

async function readTruth(): Promise<Map<string, number | null>> {
  const all = await connection.healthData('heart').toArray({ limit: 1_000 });
  return new Map(all.map(({ id, value }) => [id, value]));
}

async function deleteReading(minute: number): Promise<void> {
  const key = { type: 'Heart Rate', start: timeOf(minute), end: timeOf(minute), source: 'manual' };
  const answer = await ingest(stack, 'deleteReadings', { userId: USER, keys: [key] });
  expect(answer).toEqual({ deleted: 1 });
}

test('a copy that stops and resumes follows insertions, changes and deletions', async () => {
  const copy = new Copy();
  for await (const batch of connection.sync('heart', { pageSize: 10 })) {
    copy.store(batch);
    expect(batch.hasMore).toBe(true);
    break;
  }
  expect(copy.values.size).toBe(10);

  await ingestReadings(stack, USER, [reading(-5), reading(3, 99)]);
  await deleteReading(7);
  for await (const batch of connection.sync('heart', { cursor: copy.cursor, pageSize: 10 }))
    copy.store(batch);
  expect(copy.values).toEqual(await readTruth());
  expect(copy.values.size).toBe(READINGS);

  await deleteReading(8);
  for await (const batch of connection.sync('heart', { cursor: copy.cursor })) copy.store(batch);
  expect([copy.changes, copy.values.size]).toEqual([1, READINGS - 1]);

  for await (const batch of connection.sync('heart', { cursor: copy.cursor })) {
    copy.store(batch);
    expect(batch).toMatchObject({ hasMore: false, lastDataAt: expect.any(String), timeZone: 'UTC' });
  }
  expect(copy.changes).toBe(0);
  expect(copy.values).toEqual(await readTruth());
});
