import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Endpoint } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { bodyOf, type Harness, reading, refusalOf, startHarness } from './harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(async () => {
  await harness[Symbol.asyncDispose]();
});

test('a default time zone is used only for a person without one', async () => {
  const put = (profile: object) => harness.ingestion.putProfile({ userId: 'roams', ...profile });
  const zoneAfter = async (profile: object) => {
    await put(profile);
    return bodyOf(await harness.reads.read({ endpoint: Endpoint.AGGREGATIONS }, await harness.about('roams')))
      .data.timeZone;
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

describe('a date beside an instant is compared by its midnight in the zone', () => {
  const morning = { from: '2026-01-02', to: '2026-01-01T23:00:00Z' };
  const lateEvening = { from: '2026-01-01T12:00:00Z', to: '2026-01-02' };
  const aggregate = async (query: object) =>
    bodyOf(
      await harness.reads.read(
        { endpoint: Endpoint.AGGREGATIONS, parameters: query },
        await harness.about('islander'),
      ),
    ).data;
  const trend = async (query: object) =>
    bodyOf(
      await harness.reads.read(
        { endpoint: Endpoint.TRENDS, parameters: query },
        await harness.about('islander'),
      ),
    ).data;

  beforeAll(async () => {
    await harness.ingestion.putProfile({ userId: 'islander', timeZone: 'Pacific/Apia' });
    await harness.putReadings('islander', [reading('Steps', '2026-01-01T12:00:00Z', 60)]);
  });

  test("whether the zone is the user's or the request's", async () => {
    expect(await aggregate(morning)).toMatchObject({
      from: '2026-01-01T11:00:00.000Z',
      metrics: [{ sum: 60 }],
    });
    expect(await trend(morning)).toMatchObject([{ value: 60 }]);
    expect(await trend({ ...lateEvening, timeZone: 'UTC' })).toMatchObject([{ value: 60 }]);
  });

  test.each([
    ['aggregations', () => aggregate(lateEvening)],
    ['trends', () => trend(lateEvening)],
    ['a zone of the request', () => aggregate({ ...morning, timeZone: 'UTC' })],
  ])('and refused by name if it ends before it starts there: %s', async (_name, answer) => {
    const refusal = await refusalOf(answer());
    expect(refusal.violations).toEqual([{ parameter: 'from', message: 'must be before to' }]);
  });

  test('for lists of readings a date means midnight UTC', async () => {
    const list = async (query: object) =>
      harness.reads.read(
        { endpoint: Endpoint.HEALTH_DATA, category: 'activity', parameters: query },
        await harness.about('islander'),
      );
    expect(bodyOf(await list(lateEvening)).data).toHaveLength(1);
    expect((await refusalOf(list(morning))).violations[0]?.parameter).toBe('from');
  });
});
