import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { eventually } from '@phds/test-kit/conditions';
import { selectUsage } from '../src/store/pg-app-usage.ts';
import { expectAppDays } from './app-days.ts';
import {
  accessOf,
  approve,
  type RegisteredApp,
  type RunningService,
  record,
  registerApp,
  startConsent,
} from './running-service.ts';

const USERS = 3_000;
const DAYS = 3;

let consent: RunningService;
let app: RegisteredApp;

beforeAll(async () => {
  consent = await startConsent({ settings: { COUNT_INTERVAL_MS: '3600000' } });
});
afterAll(() => consent[Symbol.asyncDispose]());
beforeEach(async () => {
  app = await registerApp(consent, 'developer');
});

/** Counts a day of each user for each of the last days. */
const countUsers = () =>
  consent.owner.query(
    `INSERT INTO access_day (user_ref, grant_id, client_id, scope, endpoint, day, recorded, refused)
     SELECT gen_random_uuid(), '', $1, '', '/api/v1/mood', (now() AT TIME ZONE 'UTC')::date - ago, 2, 1
     FROM generate_series(1, $2) users, generate_series(0, $3) ago`,
    [app.clientId, USERS, DAYS - 1],
  );
const usage = async () =>
  (await consent.history.getAppUsage({ clientId: app.clientId }, await consent.session('developer'))).usage;

interface PlanNode {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** The numbers of rows that a plan read of each table with counts. */
function rowsRead(node: PlanNode): Record<string, number> {
  const own = node['Relation Name'];
  const ofPlans = (node.Plans ?? []).map(rowsRead);
  const rows = node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0);
  return Object.assign({}, ...ofPlans, own?.endsWith('_day') === true ? { [own]: rows } : {});
}

test('the usage of an app reads as many rows as it shows, however many users the app has', async () => {
  await countUsers();
  await consent.owner.query('ANALYZE access_day, app_day');
  for (const range of [null, { from: '2020-01-01', to: '2099-12-31' }]) {
    const { text, values } = selectUsage(app.clientId, range);
    const { rows } = await consent.owner.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values);
    expect(rowsRead(rows[0]['QUERY PLAN'][0].Plan)).toEqual({ app_day: DAYS, access_day: 0 });
  }
  expect(await usage()).toMatchObject(Array(DAYS).fill({ released: USERS, refused: USERS }));
});

test('what was counted before the upgrade is shown at once and added up in the background, also while others count', async () => {
  const { owner } = consent;
  const grant = await approve(consent, app, 'user');
  // An app of the release before.
  await owner.query('ALTER TABLE access_day DISABLE TRIGGER USER');
  await countUsers();
  await owner.query('ALTER TABLE access_day ENABLE TRIGGER USER');
  await owner.query(`UPDATE app SET app_days_from = '9999-12-31' WHERE client_id = $1`, [app.clientId]);
  await record(consent, accessOf(grant));
  const before = await usage();
  expect(before.reduce((sum, { released }) => sum + released, 0)).toBe(DAYS * USERS + 1);

  await using _another = await consent.startAnother({ COUNT_INTERVAL_MS: '20' });
  await eventually(async () => {
    expect(await usage()).toEqual(before);
    const { rows } = await owner.query(
      'SELECT FROM access_uncounted UNION ALL SELECT FROM app WHERE app_days_from IS NOT NULL',
    );
    expect(rows).toEqual([]);
  });
  await expectAppDays(owner);
  expect(await usage()).toEqual(before);
});

test('an erasure changes neither the counts of a person nor those of the app', async () => {
  await record(consent, accessOf(await approve(consent, app, 'erased')));
  await using _another = await consent.startAnother({ COUNT_INTERVAL_MS: '20' });
  await eventually(async () =>
    expect((await consent.owner.query('SELECT FROM access_uncounted')).rows).toEqual([]),
  );
  const before = await usage();
  await consent.asOperator.eraseUser({ userId: 'erased' });
  expect(await usage()).toEqual(before);
  await expectAppDays(consent.owner);
});
