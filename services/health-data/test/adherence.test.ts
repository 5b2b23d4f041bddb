import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Endpoint } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { at, bodyOf, type Harness, reasonOf, refusalOf, startHarness } from './harness.ts';
import { read as readFrom } from './record-reader.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(async () => harness[Symbol.asyncDispose]());
beforeEach(() => harness.consent.forget());

const source = 'ehr';
let keys = 0;
const key = () => ({ key: `key-${keys++}`, source });
const ID = (prefix: string) => expect.stringMatching(new RegExp(`^${prefix}_[0-9a-f]{32}$`));

const read = (...args: Parameters<typeof readFrom> extends [unknown, ...infer Rest] ? Rest : never) =>
  readFrom(harness, ...args);

async function adherence(userId: string, medicationId: string, query: object = {}) {
  return bodyOf(
    await harness.reads.read(
      { endpoint: Endpoint.ADHERENCE, parameters: query, medicationId },
      await harness.about(userId),
    ),
  );
}

describe('adherence', () => {
  const dose = (medicationKey: string, value: object) => ({
    ...key(),
    record: { case: 'adherenceEntry' as const, value: { medicationKey, status: 'taken', ...value } },
  });

  test('returns the doses of one medication, newest first; as-needed ones are ordered by the time of intake', async () => {
    await harness.putHealthRecords('patient', [
      { key: 'med-a', source, record: { case: 'medication', value: { name: 'A' } } },
      { key: 'med-b', source, record: { case: 'medication', value: { name: 'B' } } },
      dose('med-a', {
        scheduledAt: at('2026-01-01T08:00:00Z'),
        takenAt: at('2026-01-01T08:05:00Z'),
        dose: '1 tablet',
      }),
      dose('med-a', { takenAt: at('2026-01-01T20:00:00Z') }),
      dose('med-a', { scheduledAt: at('2026-01-02T08:00:00Z'), status: 'skipped', reason: 'Felt fine' }),
      dose('med-b', { scheduledAt: at('2026-01-02T08:00:00Z'), status: 'missed' }),
    ]);
    const { data: medications } = await read('medications', 'patient');
    expect(await adherence('patient', medications[0].id)).toEqual({
      data: [
        {
          id: ID('adh'),
          scheduledAt: '2026-01-02T08:00:00.000Z',
          status: 'skipped',
          takenAt: null,
          dose: null,
          reason: 'Felt fine',
        },
        {
          id: ID('adh'),
          scheduledAt: null,
          status: 'taken',
          takenAt: '2026-01-01T20:00:00.000Z',
          dose: null,
          reason: null,
        },
        {
          id: ID('adh'),
          scheduledAt: '2026-01-01T08:00:00.000Z',
          status: 'taken',
          takenAt: '2026-01-01T08:05:00.000Z',
          dose: '1 tablet',
          reason: null,
        },
      ],
      pagination: { page: 1, pageSize: 20, total: 3, totalPages: 1 },
    });
    expect((await adherence('patient', medications[0].id, { from: '2026-01-02' })).pagination.total).toBe(1);
  });

  test("an unknown medication and another person's get the same not-found response and are recorded", async () => {
    const { data: medications } = await read('medications', 'patient');
    harness.consent.forget();
    const ids = [medications[0].id, `med_${'0'.repeat(32)}`, 'med_', "x' OR 1=1"];
    const refusals = await Promise.all(ids.map((id) => refusalOf(adherence('somebody-else', id))));
    expect(new Set(refusals.map(({ reason, message }) => `${reason} ${message}`)).size).toBe(1);
    expect(refusals[0]?.reason).toBe('not_found');
    expect(harness.consent.accesses).toHaveLength(ids.length);
    expect(harness.consent.accesses[0]).toMatchObject({
      userId: 'somebody-else',
      scope: 'read:medications',
      endpoint: '/api/v1/medications/{id}/adherence',
      recordCount: 0,
    });
  });

  test('a malformed parameter is refused before anything is read or recorded', async () => {
    expect(await reasonOf(adherence('patient', 'med_', { from: 'x' }))).toBe('invalid_request');
    expect(harness.consent.accesses).toHaveLength(0);
  });
});
