import { timestampDate } from '@bufbuild/protobuf/wkt';
import { beforeEach, expect, test } from '@jest/globals';
import { eventually } from '@phds/test-kit/conditions';
import { reading, shareHarness } from './harness.ts';

const harness = await shareHarness({}, { CHANGE_REPORT_INTERVAL_MS: 20 });
beforeEach(() => harness.consent.forget());

const pulse = (day: string, value: number) => reading('heart_rate', `${day}T08:00:00Z`, value);

/** What was reported to consent about a person. */
const reportsOf = (userId: string) =>
  harness.consent.changes
    .filter((change) => change.userId === userId)
    .map(({ category, latestReadingAt }) => [
      category,
      timestampDate(latestReadingAt!).toISOString().slice(0, 10),
    ]);

const waiting = async () =>
  (await harness.owner.query('SELECT 1 FROM reading_change WHERE NOT reported')).rowCount;

test('consent is told the changed categories with the day of the latest reading, once for each write', async () => {
  await harness.putReadings('writer', [pulse('2026-02-01', 60), pulse('2026-02-03', 61)]);
  await eventually(() => expect(reportsOf('writer')).toEqual([['heart', '2026-02-03']]));
  await eventually(async () => expect(await waiting()).toBe(0));
  // The same readings again change nothing.
  await harness.putReadings('writer', [pulse('2026-02-01', 60)]);
  await harness.putReadings('writer', [pulse('2026-02-02', 70)]);
  await eventually(() =>
    expect(reportsOf('writer')).toEqual([
      ['heart', '2026-02-03'],
      ['heart', '2026-02-02'],
    ]),
  );
});

test('a change that consent takes for invalid is passed over, and keeps no other change back', async () => {
  harness.consent.refusesChanges = true;
  harness.consent.invalidUser = 'invalid';
  for (const user of ['beside-1', 'invalid', 'beside-2']) {
    await harness.putReadings(user, [pulse('2026-02-01', 60)]);
  }
  harness.consent.refusesChanges = false;
  await eventually(async () => expect(await waiting()).toBe(0));
  expect(['beside-1', 'invalid', 'beside-2'].map((user) => reportsOf(user).length)).toEqual([1, 0, 1]);
});

test('an erased person has nothing left to report', async () => {
  harness.consent.refusesChanges = true;
  await harness.putReadings('erased', [pulse('2026-02-01', 60)]);
  await harness.ingestion.eraseUser({ userId: 'erased' });
  // A report that is in progress may still tell what it has read before. The second one from now has begun after the erasure.
  const { refusedChanges } = harness.consent;
  await harness.putReadings('kept', [pulse('2026-02-01', 60)]);
  await eventually(() => expect(harness.consent.refusedChanges).toBeGreaterThan(refusedChanges + 1));
  harness.consent.refusesChanges = false;
  await eventually(async () => expect(await waiting()).toBe(0));
  expect(['kept', 'erased'].map((user) => reportsOf(user).length)).toEqual([1, 0]);
});
