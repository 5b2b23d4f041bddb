import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { bodyOf, type Harness, refusalOf, startHarness } from './harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(async () => {
  await harness[Symbol.asyncDispose]();
});

test('a default time zone is for a person who has none', async () => {
  const put = (profile: object) => harness.ingestion.putProfile({ userId: 'roams', ...profile });
  const zoneAfter = async (profile: object) => {
    await put(profile);
    return bodyOf(await harness.reads.getAggregations({}, await harness.about('roams'))).data.timeZone;
  };
  expect(await zoneAfter({ name: 'Ada', defaultTimeZone: 'Europe/Berlin' })).toBe('Europe/Berlin');
  expect(await zoneAfter({ defaultTimeZone: 'Asia/Tokyo' })).toBe('Europe/Berlin');
  expect(await zoneAfter({ timeZone: 'America/New_York', defaultTimeZone: 'Asia/Tokyo' })).toBe(
    'America/New_York',
  );
  expect(await zoneAfter({ timeZone: '' })).toBe('UTC');
  expect(await zoneAfter({ defaultTimeZone: 'Asia/Tokyo' })).toBe('Asia/Tokyo');
  const refusal = await refusalOf(put({ defaultTimeZone: 'Mars/Olympus' }));
  expect(refusal.violations.map(({ parameter }) => parameter)).toEqual(['defaultTimeZone']);
});
