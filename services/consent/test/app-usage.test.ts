import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { eventually } from '@phds/test-kit/conditions';
import {
  accessOf,
  approve,
  MOOD,
  type RegisteredApp,
  type RunningService,
  record,
  registerApp,
  startConsent,
} from './running-service.ts';

let consent: RunningService;
let app: RegisteredApp;
let today: string;

beforeAll(async () => {
  consent = await startConsent({ settings: { PRUNE_INTERVAL_MS: '50' } });
});
afterAll(async () => consent?.[Symbol.asyncDispose]());
beforeEach(async () => {
  app = await registerApp(consent, 'developer');
  const { rows } = await consent.owner.query(
    `SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS today`,
  );
  today = rows[0].today;
});

const MOOD_PATH = '/api/v1/mood';
type Count = { date?: string; endpoint?: string; status?: number; count?: number; clientId?: string };
const countOf = (count: Count = {}) => ({
  clientId: app.clientId,
  date: today,
  endpoint: MOOD_PATH,
  status: 429,
  count: 1,
  ...count,
});
const count = (...counts: Count[]) => consent.history.countRefusals({ refusals: counts.map(countOf) });
const usage = async (range: object = {}) =>
  (
    await consent.history.getAppUsage(
      { clientId: app.clientId, ...range },
      await consent.session('developer'),
    )
  ).usage;

describe('refused requests that gateways counted', () => {
  test('are shown by day, endpoint and status, beside released ones', async () => {
    const grant = await approve(consent, app, 'user');
    await record(consent, { ...accessOf(grant), endpoint: MOOD_PATH });
    await count({ status: 429, count: 7 }, { status: 400, count: 2 }, { endpoint: '/api/*', status: 404 });
    expect(await usage()).toMatchObject([
      { date: today, endpoint: '/api/*', released: 0, refused: 1, refusals: [{ status: 404, count: 1 }] },
      {
        date: today,
        endpoint: MOOD_PATH,
        released: 1,
        refused: 9,
        refusals: [
          { status: 400, count: 2 },
          { status: 429, count: 7 },
        ],
      },
    ]);
    expect(await usage({ from: '2020-01-01', to: '2020-01-31' })).toEqual([]);
  });

  test('include the refusals in the records, neither counted twice nor omitted', async () => {
    const grant = await approve(consent, app, 'user');
    const refused = { ...accessOf(grant), scope: MOOD, endpoint: MOOD_PATH };
    await record(consent, refused);
    await record(consent, refused);
    expect(await usage()).toMatchObject([{ endpoint: MOOD_PATH, released: 0, refused: 2, refusals: [] }]);
    await count({ status: 403, count: 2 });
    expect(await usage()).toMatchObject([{ refused: 2, refusals: [{ status: 403, count: 2 }] }]);
    await count({ status: 429, count: 1 });
    expect(await usage()).toMatchObject([{ refused: 3 }]);
  });

  test('are summed over gateways that report the same keys concurrently, in any order', async () => {
    const rows: Count[] = Array.from({ length: 50 }, (_, index) => ({ endpoint: `/api/v1/${index % 5}` }));
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => count(...(index % 2 === 0 ? rows : rows.toReversed()))),
    );
    expect((await usage()).map(({ refused }) => refused)).toEqual([200, 200, 200, 200, 200]);
  });

  test('of an app that does not exist are ignored', async () => {
    await count({ clientId: 'app_nobody' }, { count: 4 });
    expect(await usage()).toMatchObject([{ refused: 4 }]);
    const { rows } = await consent.owner.query(`SELECT FROM refused_request WHERE client_id = 'app_nobody'`);
    expect(rows).toEqual([]);
  });

  test('never exceed the maximum of their column', async () => {
    await count({ count: 0xffff_ffff });
    await count({ count: 0xffff_ffff });
    expect(await usage()).toMatchObject([{ refused: 0x7fff_ffff }]);
  });

  test.each<[string, Count]>([
    ['a status that is no refusal', { status: 200 }],
    ['a status that does not exist', { status: 600 }],
    ['a count of none', { count: 0 }],
    ['no day', { date: '' }],
    ['a day that does not exist', { date: '2026-02-30' }],
    ['no endpoint', { endpoint: '' }],
    ['an endpoint beyond the longest', { endpoint: 'x'.repeat(513) }],
    ['no app', { clientId: '' }],
  ])('with %s are refused whole', async (_, bad) => {
    await expect(count({}, bad)).rejects.toMatchObject({ reason: 'invalid_request' });
    expect(await usage()).toEqual([]);
  });

  test('are refused as a batch of more than 500, or an empty one', async () => {
    await expect(count()).rejects.toMatchObject({ reason: 'invalid_request' });
    const many = Array.from({ length: 501 }, () => ({}));
    await expect(count(...many)).rejects.toMatchObject({ reason: 'invalid_request' });
  });

  test('are accepted from the gateway only', async () => {
    await expect(consent.records.countRefusals({ refusals: [countOf()] })).rejects.toMatchObject({
      reason: 'caller_not_admitted',
    });
    expect(await usage()).toEqual([]);
  });

  test('are deleted 400 days after their day', async () => {
    const dayBefore = (days: number) =>
      new Date(Date.parse(today) - days * 86_400_000).toISOString().slice(0, 10);
    await count({ date: dayBefore(402) }, { date: dayBefore(399) });
    const days = async () =>
      (
        await consent.owner.query(
          `SELECT to_char(day, 'YYYY-MM-DD') AS day FROM refused_request WHERE client_id = $1`,
          [app.clientId],
        )
      ).rows;
    await eventually(async () => expect(await days()).toEqual([{ day: dayBefore(399) }]));
  });
});
