import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Endpoint } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { at, bodyOf, type Harness, reading, reasonOf, refusalOf, startHarness } from './harness.ts';
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

describe('each resource returns exactly its fields', () => {
  test('symptoms', async () => {
    await harness.putHealthRecords('one', [
      {
        ...key(),
        record: {
          case: 'symptom',
          value: { description: 'Headache', severity: 'mild', timestamp: at('2026-01-01T10:00:00Z') },
        },
      },
      {
        ...key(),
        record: { case: 'symptom', value: { description: 'Cough', timestamp: at('2026-01-02T10:00:00Z') } },
      },
    ]);
    expect(await read('symptoms', 'one')).toEqual({
      data: [
        { id: ID('sym'), description: 'Cough', severity: null, timestamp: '2026-01-02T10:00:00.000Z' },
        { id: ID('sym'), description: 'Headache', severity: 'mild', timestamp: '2026-01-01T10:00:00.000Z' },
      ],
      pagination: { page: 1, pageSize: 20, total: 2, totalPages: 1 },
    });
  });

  test('medications, ordered by name ignoring case', async () => {
    await harness.putHealthRecords('one', [
      { ...key(), record: { case: 'medication', value: { name: 'Zinc' } } },
      {
        ...key(),
        record: {
          case: 'medication',
          value: {
            name: 'ibuprofen',
            dosage: '400 mg',
            frequency: 'as needed',
            condition: 'Pain',
            pattern: 'PRN',
          },
        },
      },
      { ...key(), record: { case: 'medication', value: { name: 'Aspirin', pattern: 'QD' } } },
    ]);
    const { data } = await read('medications', 'one');
    expect(data.map(({ name }: { name: string }) => name)).toEqual(['Aspirin', 'ibuprofen', 'Zinc']);
    expect(data[1]).toEqual({
      id: ID('med'),
      name: 'ibuprofen',
      dosage: '400 mg',
      frequency: 'as needed',
      condition: 'Pain',
      pattern: 'PRN',
    });
    expect(data[2]).toEqual({
      id: ID('med'),
      name: 'Zinc',
      dosage: null,
      frequency: null,
      condition: null,
      pattern: null,
    });
  });

  test.each([
    ['condition', 'conditions', 'cnd'],
    ['allergy', 'allergies', 'alg'],
  ] as const)(
    '%s, newest sinceDate first, unknown last, partial dates with their precision',
    async (kind, endpoint, prefix) => {
      const fact = (name: string, sinceDate: string, severity = '') => ({
        ...key(),
        record: { case: kind, value: { name, sinceDate, severity } },
      });
      await harness.putHealthRecords('one', [
        fact('A', '', 'severe'),
        fact('B', '2019'),
        fact('C', '2019-05'),
        fact('D', '2019-05-04'),
        fact('E', '2018-12-31'),
      ]);
      const { data } = await read(endpoint, 'one');
      expect(data).toEqual([
        { id: ID(prefix), name: 'D', severity: null, sinceDate: '2019-05-04' },
        { id: ID(prefix), name: 'C', severity: null, sinceDate: '2019-05' },
        { id: ID(prefix), name: 'B', severity: null, sinceDate: '2019' },
        { id: ID(prefix), name: 'E', severity: null, sinceDate: '2018-12-31' },
        { id: ID(prefix), name: 'A', severity: 'severe', sinceDate: null },
      ]);
      const names = async (query: object) =>
        (await read(endpoint, 'one', query)).data.map(({ name }: { name: string }) => name);
      expect(await names({ from: '2019-05-01' })).toEqual(['D', 'C']);
      expect(await names({ to: '2019-01-01' })).toEqual(['E']);
      // An instant within a day rounds up to the next.
      expect(await names({ from: '2019-05-01T00:00:00.001Z' })).toEqual(['D']);
      // Data without a time is shown even if the grant's data starts later.
      expect((await read(endpoint, 'one', {}, '2026-01-01')).data).toHaveLength(5);
    },
  );

  test('appointments, in the offset they were made in', async () => {
    await harness.putHealthRecords('one', [
      {
        ...key(),
        record: {
          case: 'appointment',
          value: {
            title: 'Check-up',
            dateTime: '2026-04-01T09:30:00+02:00',
            specialty: 'Cardiology',
            location: 'Room 3',
          },
        },
      },
      {
        ...key(),
        record: { case: 'appointment', value: { title: 'Call', dateTime: '2026-04-01T08:00:00Z' } },
      },
    ]);
    expect((await read('appointments', 'one')).data).toEqual([
      {
        id: ID('apt'),
        title: 'Call',
        dateTime: '2026-04-01T08:00:00+00:00',
        specialty: null,
        location: null,
      },
      {
        id: ID('apt'),
        title: 'Check-up',
        dateTime: '2026-04-01T09:30:00+02:00',
        specialty: 'Cardiology',
        location: 'Room 3',
      },
    ]);
  });

  test('mood', async () => {
    await harness.putHealthRecords('one', [
      {
        ...key(),
        record: {
          case: 'moodEntry',
          value: { mood: 'slightlyPleasant', note: 'Sun', timestamp: at('2026-01-02T10:00:00Z') },
        },
      },
    ]);
    expect((await read('mood', 'one')).data).toEqual([
      { id: ID('mood'), mood: 'slightlyPleasant', note: 'Sun', timestamp: '2026-01-02T10:00:00.000Z' },
    ]);
  });

  test('reports', async () => {
    await harness.putHealthRecords('one', [
      {
        ...key(),
        record: {
          case: 'report',
          value: {
            generatedAt: at('2026-02-01T06:00:00Z'),
            from: '2026-01-01',
            to: '2026-01-31',
            summary: 'All well.',
          },
        },
      },
    ]);
    expect((await read('reports', 'one')).data).toEqual([
      {
        id: ID('rpt'),
        generatedAt: '2026-02-01T06:00:00.000Z',
        dateRange: { from: '2026-01-01', to: '2026-01-31' },
        summary: 'All well.',
      },
    ]);
    // The period of a report must be in the grant's data window, not only its creation.
    expect((await read('reports', 'one', {}, '2026-01-01')).data).toHaveLength(1);
    expect((await read('reports', 'one', {}, '2026-01-02')).data).toHaveLength(0);
  });

  test('ehr', async () => {
    await harness.putHealthRecords('one', [
      {
        ...key(),
        record: {
          case: 'ehrRecord',
          value: { resourceType: 'Procedure', summary: 'X-ray', timestamp: at('2025-01-02T10:00:00Z') },
        },
      },
    ]);
    expect((await read('ehr', 'one')).data).toEqual([
      { id: ID('ehr'), resourceType: 'Procedure', summary: 'X-ray', timestamp: '2025-01-02T10:00:00.000Z' },
    ]);
  });

  test('profile; all nulls for a person without one', async () => {
    expect(await read('profile', 'nobody')).toEqual({
      data: { name: null, gender: null, dateOfBirth: null, bloodType: null },
    });
    await harness.ingestion.putProfile({
      userId: 'one',
      name: 'Ada',
      gender: 'female',
      dateOfBirth: '1990-12-10',
    });
    await harness.ingestion.putProfile({ userId: 'one', bloodType: 'A+', gender: '' });
    expect(await read('profile', 'one')).toEqual({
      data: { name: 'Ada', gender: null, dateOfBirth: '1990-12-10', bloodType: 'A+' },
    });
  });

  test('weight: the latest of each local day, from the Weight readings', async () => {
    await harness.ingestion.putProfile({ userId: 'one', timeZone: 'America/New_York' });
    await harness.putReadings('one', [
      reading('Weight', '2026-01-02T12:00:00Z', 80.5),
      reading('Weight', '2026-01-03T03:00:00Z', 80.255),
      reading('Weight', '2026-01-03T12:00:00Z', 81),
      reading('Height', '2026-01-03T12:00:00Z', 180),
    ]);
    const body = await read('weight', 'one');
    expect(body.pagination.total).toBe(2);
    expect(body.data).toEqual([
      { id: ID('wgt'), weightKg: 81, date: '2026-01-03' },
      { id: ID('wgt'), weightKg: 80.26, date: '2026-01-02' },
    ]);
    expect((await read('weight', 'one', { to: '2026-01-03' })).data).toHaveLength(1);
    expect((await read('weight', 'one', { from: '2026-01-03' })).data).toMatchObject([{ weightKg: 81 }]);
    expect((await read('weight', 'one', {}, '2026-01-03')).data).toMatchObject([{ weightKg: 81 }]);
    const beyond = await read('weight', 'one', { page: { page: 3, pageSize: 2 } });
    expect(beyond).toEqual({ data: [], pagination: { page: 3, pageSize: 2, total: 2, totalPages: 1 } });
  });
});

describe('lists of records', () => {
  test('pages contain every item once, even identical ones, and keep the true total', async () => {
    await harness.putHealthRecords(
      'many',
      Array.from({ length: 25 }, () => ({
        ...key(),
        record: {
          case: 'symptom' as const,
          value: { description: 'Same', timestamp: at('2026-01-02T10:00:00Z') },
        },
      })),
    );
    const pages = await Promise.all(
      [1, 2, 3, 4].map((page) => read('symptoms', 'many', { page: { page, pageSize: 10 } })),
    );
    const ids = pages.flatMap(({ data }) => data.map(({ id }: { id: string }) => id));
    expect(ids).toHaveLength(25);
    expect(new Set(ids).size).toBe(25);
    expect(pages[3]).toEqual({ data: [], pagination: { page: 4, pageSize: 10, total: 25, totalPages: 3 } });
  });

  test.each(['symptoms', 'weight', 'medications'] as const)(
    '%s answers the largest page number with an empty page',
    async (endpoint) => {
      const page = 2 ** 32 - 1;
      const body = await read(endpoint, 'many', { page: { page, pageSize: 100 } });
      expect(body.data).toEqual([]);
      expect(body.pagination.page).toBe(page);
    },
  );

  test('windows and the data window of the grant limit them', async () => {
    await harness.putHealthRecords(
      'windowed',
      ['2026-01-01', '2026-01-02', '2026-01-03'].map((date) => ({
        ...key(),
        record: {
          case: 'moodEntry' as const,
          value: { mood: 'neutral', timestamp: at(`${date}T00:00:00Z`) },
        },
      })),
    );
    const total = async (query: object, dataFrom: string | null = null) =>
      (await read('mood', 'windowed', query, dataFrom)).pagination.total;
    expect(await total({ from: '2026-01-02' })).toBe(2);
    expect(await total({ from: '2026-01-01', to: '2026-01-03' })).toBe(2);
    expect(await total({}, '2026-01-03')).toBe(1);
    expect(await total({ from: '2026-01-01' }, '2026-01-03')).toBe(1);
  });

  test('a parameter that a resource does not support is refused by name', async () => {
    for (const [endpoint, query] of [
      ['medications', { from: '2026-01-01' }],
      ['profile', { type: 'Steps' }],
      ['symptoms', { timeZone: 'UTC' }],
    ] as const) {
      const refusal = await refusalOf(read(endpoint, 'one', query));
      expect(refusal.violations.map((violation) => violation.parameter)).toEqual(Object.keys(query));
    }
  });
});

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
