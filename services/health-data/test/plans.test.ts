import { describe, expect, test } from '@jest/globals';
import { CATEGORY_SLUGS } from '@phds/catalog/categories';
import { METRICS } from '@phds/catalog/metrics';
import { type Asked, capture, explain, type Plan } from '@phds/test-kit/plans';
import { fillPeople, MEDICATION, PEOPLE, ZONE } from './people.ts';
import { shareStorePool } from './store-pool.ts';
import { createStores, type Stores } from './stores.ts';

// Runs every query of a read as in production, where its plan is made once: on empty tables here, and again with a person of
// 200,000 readings among others. Each must find its rows by an index, and the number of rows touched must not depend on how many
// there are; except that pages far down go through the days that have readings, summaries through the quarter hours of their period.

type Read = (stores: Stores) => Promise<unknown>;

const [USER] = PEOPLE;
const PAGE = { limit: 20, offset: 0 };
const ALWAYS = { from: null, to: null };
const WINDOW = { from: new Date('2023-05-10T10:20:30Z'), to: new Date('2025-03-15T20:40:50Z') };
const DAYS = { from: new Date('2023-05-09T22:00:00Z'), to: new Date('2025-03-14T23:00:00Z') };
const SINCE = new Date('2024-02-29T23:00:00Z');

/** The plans made before there were rows, by the text of the statement. */
const early = new Map<string, Plan>();

const { pool, admin } = await shareStorePool('plans', 1, 60_000);
const stores = createStores(pool);

const statementsOf = (read: Read): Promise<Asked[]> => capture(() => read(stores));

const planOf = (asked: Asked, run: boolean): Promise<Plan> => explain(pool, asked, run);

const list =
  (changes: Partial<Parameters<Stores['readings']['list']>[0]>): Read =>
  ({ readings }) =>
    readings.list({ userId: USER, category: 'heart', metric: null, range: ALWAYS, ...PAGE, ...changes });

/** Lists in one turn of the event loop, which share a statement. */
const together =
  (...lists: readonly Read[]): Read =>
  (all) =>
    Promise.all(lists.map((read) => read(all)));

const SUMMARY_QUERY = {
  askedBy: 'app_plans',
  userId: USER,
  metrics: METRICS.map(({ key }) => key),
  timeZone: ZONE,
  range: ALWAYS,
  since: null,
};

const aggregate =
  (changes: object): Read =>
  ({ summaries }) =>
    summaries.summarise({ ...SUMMARY_QUERY, ...changes });

const trend =
  (bucket: 'day' | 'hour', changes: object): Read =>
  ({ summaries }) =>
    summaries.trend({
      ...SUMMARY_QUERY,
      bucket,
      ...PAGE,
      ...changes,
    });

const weigh =
  (changes: object): Read =>
  ({ weights }) =>
    weights.list({ userId: USER, timeZone: ZONE, dates: ALWAYS, since: null, ...PAGE, ...changes });

const DEEP = 50_000;

const LIMITS = { startFrom: null, startBefore: null, endFrom: null, endBefore: null };
const ALL = ['heart', 'activity', 'sleep', 'body-composition', 'blood-pressure'] as const;

const subjectsOf = (keys: readonly string[]) =>
  keys.map((key) => ({ key: key as (typeof ALL)[number], avoidedSource: null }));

const MANY = { userId: USER, by: 'category', subjects: subjectsOf(ALL), starts: null, when: LIMITS } as const;

const span =
  (
    changes: Partial<Parameters<Stores['readingSpans']['listNewest']>[0]>,
    keys: readonly string[] = ALL,
  ): Read =>
  ({ readingSpans }) =>
    readingSpans.listNewest({ ...MANY, subjects: subjectsOf(keys), limit: 51, ...changes });

const DAY = Date.parse('2024-06-01T00:00:00Z');

const BY_CATEGORY = ['reading_count_pkey', 'reading_user_id_category_start_at_id_idx'];
const BY_TYPE = ['reading_count_pkey', 'reading_pkey'];
const SPANS = ['reading_user_id_category_start_at_id_idx'];
const SUMMARY = ['reading_pkey', 'reading_quarter_pkey'];
const WEIGHT = ['reading_pkey'];

// The quarter hours of the period, which are about as many as its readings, because these are far apart.
const ALL_QUARTERS = 199_000;
const WINDOW_QUARTERS = 123_000;

const READS: readonly (readonly [name: string, read: Read, atMost: number, indexes: readonly string[]])[] = [
  ['the zone of a person', ({ profiles }) => profiles.findTimeZone(USER), 1, ['profile_pkey']],
  ['the newest readings', list({}), 30, BY_CATEGORY],
  ['the newest of a type', list({ metric: 'heart-rate' }), 30, BY_TYPE],
  [
    'the newest of several people',
    together(...[...PEOPLE, 'nobody'].map((userId) => list({ userId })), list({ category: 'activity' })),
    5 * 30,
    BY_CATEGORY,
  ],
  [
    'the newest one of each category',
    together(...CATEGORY_SLUGS.map((category) => list({ category, limit: 1 }))),
    100,
    BY_CATEGORY,
  ],
  [
    'the newest of types of several people',
    together(...PEOPLE.map((userId) => list({ userId, metric: 'heart-rate' })), list({ metric: 'ecg' })),
    4 * 30,
    BY_TYPE,
  ],
  ['the last newest page', list({ offset: 180 }), 210, BY_CATEGORY],
  ['the next readings', list({ offset: 400 }), 450, BY_CATEGORY],
  ['readings far down', list({ offset: DEEP }), 3500, BY_CATEGORY],
  ['those of a type', list({ metric: 'heart-rate', offset: DEEP }), 1200, BY_TYPE],
  ['readings of a window', list({ range: WINDOW }), 2300, BY_CATEGORY],
  ['far down in a window', list({ range: WINDOW, offset: DEEP }), 2400, BY_CATEGORY],
  ['of a type', list({ metric: 'heart-rate', range: WINDOW, offset: DEEP }), 1000, BY_TYPE],
  ['aggregations', aggregate({}), ALL_QUARTERS, SUMMARY],
  ['aggregations of days', aggregate({ range: DAYS }), WINDOW_QUARTERS, SUMMARY],
  ['aggregations from and to an hour of the day', aggregate({ range: WINDOW }), WINDOW_QUARTERS, SUMMARY],
  ['aggregations from a beginning', aggregate({ since: SINCE }), WINDOW_QUARTERS, SUMMARY],
  ['daily trends', trend('day', {}), ALL_QUARTERS, SUMMARY],
  ['daily trends far down', trend('day', { offset: 3000 }), ALL_QUARTERS, SUMMARY],
  ['daily trends of a window', trend('day', { range: WINDOW, offset: 2000 }), WINDOW_QUARTERS, SUMMARY],
  ['hourly trends', trend('hour', {}), ALL_QUARTERS, SUMMARY],
  ['hourly trends far down', trend('hour', { offset: DEEP }), ALL_QUARTERS, SUMMARY],
  ['hourly trends of a window', trend('hour', { range: WINDOW, offset: 20_000 }), WINDOW_QUARTERS, SUMMARY],
  ['the newest of several categories', span({ limit: 102 }), 4 * 104, SPANS],
  ['the newest of a category', span({}, ['heart']), 53, SPANS],
  [
    'the newest of a category of several people',
    together(...[...PEOPLE, 'nobody'].map((userId) => span({ userId }, ['heart']))),
    4 * 53,
    SPANS,
  ],
  ['the newest of one type', span({ by: 'type' }, ['heart-rate']), 53, ['reading_pkey']],
  [
    'the newest of several types',
    span({ by: 'type' }, ['heart-rate', 'ecg', 'weight']),
    3 * 53,
    ['reading_pkey'],
  ],
  [
    'those of a type before a time',
    span({ by: 'type', when: { ...LIMITS, startBefore: DAY } }, ['heart-rate']),
    53,
    ['reading_pkey'],
  ],
  ['those before a time', span({ when: { ...LIMITS, startBefore: DAY } }), 4 * 53, SPANS],
  [
    'those of a day',
    span({ when: { ...LIMITS, startFrom: DAY, endBefore: DAY + 86_400_000 } }),
    4 * 53,
    SPANS,
  ],
  ['those that end after a time', span({ when: { ...LIMITS, endFrom: DAY } }), 4 * 53, SPANS],
  ['those that start at some times', span({ starts: [DAY, DAY + 1] }), 20, SPANS],
  [
    'the number of too many in a period',
    ({ readingSpans }) => readingSpans.count({ ...MANY, when: { ...LIMITS, startFrom: 0 } }),
    10_001,
    SPANS,
  ],
  ['weights', weigh({}), 2200, WEIGHT],
  ['weights far down', weigh({ offset: 1000 }), 2200, WEIGHT],
  ['weights from a beginning', weigh({ since: SINCE }), 1400, WEIGHT],
];

const healthRecords =
  (kind: Parameters<Stores['healthRecords']['list']>[0]): Read =>
  (stores) =>
    stores.healthRecords.list(kind, {
      userId: USER,
      range: WINDOW,
      medicationId: MEDICATION,
      coverFrom: SINCE,
      ...PAGE,
      offset: 100,
    });

const newest =
  (kind: Parameters<Stores['healthRecords']['list']>[0]): Read =>
  ({ healthRecords }) =>
    healthRecords.listNewest(kind, {
      userId: USER,
      ids: null,
      since: SINCE,
      coverFrom: SINCE,
      statuses: null,
      when: { ...LIMITS, endFrom: DAY, startBefore: DAY + 86_400_000 },
      limit: 51,
    });

const held =
  (kind: Parameters<Stores['healthRecords']['listHeld']>[0]): Read =>
  ({ healthRecords }) =>
    healthRecords.listHeld(kind, { userId: USER, before: DAY, limit: 500 });

const RECORD_READS: readonly (readonly [name: string, read: Read, index: string])[] = [
  ['symptoms', healthRecords('symptom'), 'symptom_user_id_occurred_at_id_idx'],
  ['medications', healthRecords('medication'), 'medication_pkey'],
  [
    'whether there is a medication',
    (all) => all.healthRecords.hasMedication(USER, MEDICATION),
    'medication_pkey',
  ],
  ['adherence', healthRecords('adherenceEntry'), 'adherence_entry_user_id_medication_id_at_id_idx'],
  ['conditions', healthRecords('condition'), 'condition_pkey'],
  ['allergies', healthRecords('allergy'), 'allergy_pkey'],
  ['appointments', healthRecords('appointment'), 'appointment_user_id_starts_at_id_idx'],
  ['mood', healthRecords('moodEntry'), 'mood_entry_user_id_occurred_at_id_idx'],
  ['reports', healthRecords('report'), 'report_user_id_generated_at_id_idx'],
  ['ehr', healthRecords('ehrRecord'), 'ehr_record_user_id_occurred_at_id_idx'],
  ['the newest symptoms', newest('symptom'), 'symptom_user_id_occurred_at_id_idx'],
  ['the newest appointments', newest('appointment'), 'appointment_user_id_starts_at_id_idx'],
  ['the newest mood entries', newest('moodEntry'), 'mood_entry_user_id_occurred_at_id_idx'],
  ['the newest reports', newest('report'), 'report_user_id_generated_at_id_idx'],
  ['held symptoms', held('symptom'), 'symptom_user_id_occurred_at_id_idx'],
  ['held conditions', held('condition'), 'condition_pkey'],
  ['held appointments', held('appointment'), 'appointment_user_id_starts_at_id_idx'],
  ['held mood entries', held('moodEntry'), 'mood_entry_user_id_occurred_at_id_idx'],
  ['held reports', held('report'), 'report_user_id_generated_at_id_idx'],
  ['held ehr records', held('ehrRecord'), 'ehr_record_user_id_occurred_at_id_idx'],
  ['the newest ehr records', newest('ehrRecord'), 'ehr_record_user_id_occurred_at_id_idx'],
];

for (const [, read] of [...READS, ...RECORD_READS]) {
  for (const asked of await statementsOf(read)) early.set(asked.text, await planOf(asked, false));
}
await fillPeople(admin);
await admin.query('ANALYZE');

describe('readings and summaries', () => {
  test.each(READS)('%s', async (_, read, atMost, indexes) => {
    const [statement, ...before] = (await statementsOf(read)).toReversed() as [Asked, ...Asked[]];
    // Of summaries of long periods, how many readings there are.
    for (const one of before) expect((await planOf(one, true)).indexes).toEqual(['reading_count_pkey']);
    const plan = await planOf(statement, true);
    for (const one of [plan, early.get(statement.text)]) {
      expect(one?.walked).toEqual([]);
      expect(one?.indexes).toEqual(indexes);
    }
    expect(plan.touched).toBeLessThanOrEqual(atMost);
  });
});

describe('lists of records are read by one statement with one index', () => {
  test.each(RECORD_READS)('%s', async (_, read, index) => {
    const asked = await statementsOf(read);
    // One statement, so that page and total are of one snapshot.
    expect(asked).toHaveLength(1);
    const [statement] = asked as [Asked];
    for (const plan of [await planOf(statement, true), early.get(statement.text)]) {
      expect(plan?.walked).toEqual([]);
      expect(plan?.indexes).toEqual([index]);
    }
  });
});
