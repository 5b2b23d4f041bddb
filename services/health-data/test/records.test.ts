import type { MessageInitShape } from '@bufbuild/protobuf';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { EndpointId } from '@phds/catalog/endpoints';
import { Endpoint } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import type { HealthRecordSchema } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import { toReadEndpoint } from '@phds/service-kit/rpc/messages';
import { at, bodyOf, reading, refusalOf, shareHarness } from './harness.ts';

const harness = await shareHarness();
beforeEach(() => harness.consent.forget());

type RecordInit = NonNullable<MessageInitShape<typeof HealthRecordSchema>['record']>;

let keys = 0;
const put = (userId: string, ...records: RecordInit[]) =>
  harness.putHealthRecords(
    userId,
    records.map((record) => ({ key: `key-${keys++}`, source: 'ehr', record })),
  );

const ID = (prefix: string) => expect.stringMatching(new RegExp(`^${prefix}_[0-9a-f]{32}$`));

async function read(
  endpoint: EndpointId,
  userId: string,
  parameters: object = {},
  dataFrom: string | null = null,
) {
  const request = { endpoint: toReadEndpoint(endpoint), parameters };
  return bodyOf(await harness.reads.read(request, await harness.about(userId, { dataFrom })));
}

describe('each resource returns exactly its fields', () => {
  test('symptoms', async () => {
    const early = { description: 'Headache', severity: 'mild', timestamp: at('2026-01-01T10:00:00Z') };
    const late = { description: 'Cough', timestamp: at('2026-01-02T10:00:00Z') };
    await put('one', { case: 'symptom', value: early }, { case: 'symptom', value: late });
    expect(await read('symptoms', 'one')).toEqual({
      data: [
        { id: ID('sym'), description: 'Cough', severity: null, timestamp: '2026-01-02T10:00:00.000Z' },
        { id: ID('sym'), description: 'Headache', severity: 'mild', timestamp: '2026-01-01T10:00:00.000Z' },
      ],
      pagination: { page: 1, pageSize: 20, total: 2, totalPages: 1 },
    });
  });

  test('medications, ordered by name ignoring case', async () => {
    const known = { dosage: '400 mg', frequency: 'as needed', condition: 'Pain', pattern: 'PRN' };
    const unknown = { dosage: null, frequency: null, condition: null, pattern: null };
    await put(
      'one',
      { case: 'medication', value: { name: 'Zinc' } },
      { case: 'medication', value: { name: 'ibuprofen', ...known } },
      { case: 'medication', value: { name: 'Aspirin', pattern: 'QD' } },
    );
    expect((await read('medications', 'one')).data).toEqual([
      { id: ID('med'), name: 'Aspirin', ...unknown, pattern: 'QD' },
      { id: ID('med'), name: 'ibuprofen', ...known },
      { id: ID('med'), name: 'Zinc', ...unknown },
    ]);
  });

  test.each([
    ['condition', 'conditions', 'cnd'],
    ['allergy', 'allergies', 'alg'],
  ] as const)(
    '%s, newest sinceDate first, unknown last, partial dates with their precision',
    async (kind, endpoint, prefix) => {
      const fact = (name: string, sinceDate: string, severity = '') => ({
        case: kind,
        value: { name, sinceDate, severity },
      });
      await put(
        'one',
        fact('A', '', 'severe'),
        fact('B', '2019'),
        fact('C', '2019-05'),
        fact('D', '2019-05-04'),
        fact('E', '2018-12-31'),
      );
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
    const known = { title: 'Check-up', specialty: 'Cardiology', location: 'Room 3' };
    await put(
      'one',
      { case: 'appointment', value: { ...known, dateTime: '2026-04-01T09:30:00+02:00' } },
      { case: 'appointment', value: { title: 'Call', dateTime: '2026-04-01T08:00:00Z' } },
    );
    const unknown = { specialty: null, location: null };
    expect((await read('appointments', 'one')).data).toEqual([
      { id: ID('apt'), title: 'Call', dateTime: '2026-04-01T08:00:00+00:00', ...unknown },
      { id: ID('apt'), ...known, dateTime: '2026-04-01T09:30:00+02:00' },
    ]);
  });

  test('mood and ehr', async () => {
    const timestamp = '2026-01-02T10:00:00.000Z';
    const mood = { mood: 'slightlyPleasant', note: 'Sun' };
    const ehr = { resourceType: 'Procedure', summary: 'X-ray' };
    await put(
      'one',
      { case: 'moodEntry', value: { ...mood, timestamp: at(timestamp) } },
      { case: 'ehrRecord', value: { ...ehr, timestamp: at(timestamp) } },
    );
    expect((await read('mood', 'one')).data).toEqual([{ id: ID('mood'), ...mood, timestamp }]);
    expect((await read('ehr', 'one')).data).toEqual([{ id: ID('ehr'), ...ehr, timestamp }]);
  });

  test('reports', async () => {
    const range = { from: '2026-01-01', to: '2026-01-31' };
    const generatedAt = '2026-02-01T06:00:00.000Z';
    const value = { ...range, generatedAt: at(generatedAt), summary: 'All well.' };
    await put('one', { case: 'report', value });
    expect((await read('reports', 'one')).data).toEqual([
      { id: ID('rpt'), generatedAt, dateRange: range, summary: 'All well.' },
    ]);
    // The period of a report must be in the grant's data window, not only its creation.
    expect((await read('reports', 'one', {}, '2026-01-01')).data).toHaveLength(1);
    expect((await read('reports', 'one', {}, '2026-01-02')).data).toHaveLength(0);
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

// With an offset, an instant leaves the years 1 to 9999 that parameters allow.
const WIDEST = [
  { from: '0001-01-01', to: '9999-12-31' },
  { from: '0001-01-01T00:00:00+23:59', to: '9999-12-31T23:59:59-23:59' },
];

test.each([
  ['symptoms', 2],
  ['conditions', 4],
  ['ehr', 1],
  ['weight', 2],
] as const)('%s accepts the first and the last of all dates and instants', async (endpoint, total) => {
  const count = async (query: object) => (await read(endpoint, 'one', query)).pagination.total;
  for (const { from, to } of WIDEST) {
    expect(await Promise.all([{ from, to }, { from: to }, { to: from }].map(count))).toEqual([total, 0, 0]);
  }
});

describe('lists of records', () => {
  test('pages contain every item once, even identical ones, and keep the true total', async () => {
    const same = { description: 'Same', timestamp: at('2026-01-02T10:00:00Z') };
    await put('many', ...Array<RecordInit>(25).fill({ case: 'symptom', value: same }));
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
    const moods = ['2026-01-01', '2026-01-02', '2026-01-03'].map(
      (date): RecordInit => ({ case: 'moodEntry', value: { mood: 'neutral', timestamp: at(date) } }),
    );
    await put('windowed', ...moods);
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
  test('returns the doses of one medication, newest first; as-needed ones are ordered by the time of intake', async () => {
    const medication = (key: string) =>
      ({ key, source: 'ehr', record: { case: 'medication', value: { name: key } } }) as const;
    await harness.putHealthRecords('patient', [medication('a'), medication('b')]);
    const dose = (medicationKey: string, value: object): RecordInit => ({
      case: 'adherenceEntry',
      value: { medicationKey, status: 'taken', ...value },
    });
    const [first, evening, second] = [
      '2026-01-01T08:00:00.000Z',
      '2026-01-01T20:00:00.000Z',
      '2026-01-02T08:00:00.000Z',
    ] as const;
    await put(
      'patient',
      dose('a', { scheduledAt: at(first), takenAt: at(first), dose: '1 tablet' }),
      dose('a', { takenAt: at(evening) }),
      dose('a', { scheduledAt: at(second), status: 'skipped', reason: 'Felt fine' }),
      dose('b', { scheduledAt: at(second), status: 'missed' }),
    );
    const { data: medications } = await read('medications', 'patient');
    const shown = {
      id: ID('adh'),
      status: 'taken',
      scheduledAt: null,
      takenAt: null,
      dose: null,
      reason: null,
    };
    expect(await adherence('patient', medications[0].id)).toEqual({
      data: [
        { ...shown, scheduledAt: second, status: 'skipped', reason: 'Felt fine' },
        { ...shown, takenAt: evening },
        { ...shown, scheduledAt: first, takenAt: first, dose: '1 tablet' },
      ],
      pagination: { page: 1, pageSize: 20, total: 3, totalPages: 1 },
    });
    expect((await adherence('patient', medications[0].id, { from: '2026-01-02' })).pagination.total).toBe(1);
  });
});
