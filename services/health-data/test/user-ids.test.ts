import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Endpoint } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { BAD_USER_IDS, GOOD_USER_IDS } from '@phds/test-kit/user-ids';
import { bodyOf, type Harness, reading, refusalOf, startHarness } from './harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(async () => harness[Symbol.asyncDispose]());

const READINGS = [reading('Heart Rate', '2026-01-02T10:00:00Z', 60)];

test.each(BAD_USER_IDS)('nothing is stored or erased for a user id %s', async (_, userId) => {
  for (const call of [harness.putReadings(userId, READINGS), harness.ingestion.eraseUser({ userId })]) {
    expect(await refusalOf(call)).toMatchObject({
      reason: 'invalid_request',
      violations: [{ parameter: 'userId' }],
    });
  }
});

test.each(GOOD_USER_IDS)('readings for a user id %s are stored, read and erased', async (_, userId) => {
  const heart = async () =>
    bodyOf(
      await harness.reads.read(
        { endpoint: Endpoint.HEALTH_DATA, category: 'heart' },
        await harness.about(userId),
      ),
    );
  expect(await harness.putReadings(userId, READINGS)).toMatchObject({ inserted: 1 });
  expect((await heart()).pagination.total).toBe(1);
  await harness.ingestion.eraseUser({ userId });
  expect((await heart()).pagination.total).toBe(0);
});
