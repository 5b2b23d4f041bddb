import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Verdict } from '@phds/contracts/phds/consent/v1/access_pb';
import { Endpoint } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { bodyOf, type Harness, reading, refusalOf, startHarness } from './harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
  await harness.putReadings('ada', [reading('Steps', '2026-01-02T10:00:00Z', 500)]);
  await harness.ingestion.putProfile({ userId: 'ada', timeZone: 'Europe/Berlin' });
});
afterAll(async () => harness[Symbol.asyncDispose]());
beforeEach(() => harness.consent.forget());

const ACTIVITY = 'read:health-data:activity';

async function read(endpoint: Endpoint, request: object, scopes: string[] = [ACTIVITY]) {
  return harness.reads.read({ endpoint, ...request }, await harness.about('ada', { scopes }));
}

test.each([
  ['trends', Endpoint.TRENDS, 'read:trends'],
  ['aggregations', Endpoint.AGGREGATIONS, 'read:aggregations'],
] as const)(
  '%s of one type are read by the scope of its category, which the record names',
  async (_, endpoint, own) => {
    const parameters = { type: 'Steps' };
    expect(bodyOf(await read(endpoint, { parameters, scope: ACTIVITY })).data).not.toEqual([]);
    expect(harness.consent.accesses).toMatchObject([{ scope: ACTIVITY, recordCount: 1 }]);
    harness.consent.judge = () => Verdict.SCOPE_WITHDRAWN;
    expect(await refusalOf(read(endpoint, { parameters, scope: ACTIVITY }))).toMatchObject({
      reason: 'consent_required',
      requiredScope: ACTIVITY,
    });
    // Without a scope, the first one is meant.
    expect(await refusalOf(read(endpoint, { parameters }))).toMatchObject({
      reason: 'insufficient_scope',
      requiredScope: own,
    });
  },
);

test('no other scope opens a request, whatever the caller asks for', async () => {
  const refused = [
    () => read(Endpoint.TRENDS, { scope: ACTIVITY }),
    () => read(Endpoint.TRENDS, { scope: ACTIVITY, parameters: { type: 'Heart Rate' } }),
    () => read(Endpoint.TRENDS, { scope: ACTIVITY, parameters: { type: 'no type' } }),
    () =>
      read(Endpoint.HEALTH_DATA, { category: 'heart', scope: ACTIVITY, parameters: { type: 'Heart Rate' } }),
    () => read(Endpoint.MOOD, { scope: ACTIVITY }),
    () => read(Endpoint.TIME_ZONE, { scope: 'read:profile' }, ['read:profile']),
  ];
  for (const call of refused) {
    expect(await refusalOf(call())).toMatchObject({
      reason: 'invalid_request',
      message: 'scope: does not open this request',
    });
  }
  const missing = read(Endpoint.TRENDS, { scope: ACTIVITY, parameters: { type: 'Steps' } }, ['read:mood']);
  expect(await refusalOf(missing)).toMatchObject({ reason: 'insufficient_scope', requiredScope: ACTIVITY });
  expect(harness.consent.accesses).toEqual([]);
});

test('the time zone is read by a scope of dated data, and recorded', async () => {
  expect(bodyOf(await read(Endpoint.TIME_ZONE, { scope: ACTIVITY }))).toEqual({
    data: { timeZone: 'Europe/Berlin' },
  });
  expect(harness.consent.accesses).toMatchObject([
    { endpoint: '/api/v1/time-zone', scope: ACTIVITY, recordCount: 1 },
  ]);
  harness.consent.judge = () => Verdict.GRANT_REVOKED;
  expect(await refusalOf(read(Endpoint.TIME_ZONE, { scope: ACTIVITY }))).toMatchObject({
    reason: 'unauthorized',
  });
});

test('the time zone of a person who has none is UTC', async () => {
  const response = await harness.reads.read({ endpoint: Endpoint.TIME_ZONE }, await harness.about('nobody'));
  expect(bodyOf(response)).toEqual({ data: { timeZone: 'UTC' } });
});
