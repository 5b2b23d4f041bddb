import { beforeAll, expect, test } from '@jest/globals';
import { KEY_LOOK_UPS } from '@phds/service-kit/postgres/postgres';
import { readStatement, runStatement } from '@phds/service-kit/postgres/sql';
import { explainGeneric, listIndexes, listNamedIndexes, readSqlFiles } from '@phds/test-kit/sql-files';
import { openSmallPools } from './database-clients.ts';
import { shareConsent } from './running-service.ts';

const { owner, database } = await shareConsent();

const STATEMENTS = readSqlFiles(new URL('../src/store/sql/', import.meta.url), readStatement);

const ROWS = 2_000;

/** Of empty tables Postgres takes any index, and the key of a row only by chance. */
const FILLED = [
  `INSERT INTO app (client_id, owner_id, profile, profile_updated_at)
   SELECT 'app_' || n, 'developer', '{}', now() FROM generate_series(1, ${ROWS}) n`,
  `INSERT INTO person (user_id) SELECT 'user ' || n FROM generate_series(1, ${ROWS}) n`,
  `INSERT INTO consent_grant (id, user_id, user_ref, client_id, app_epoch, scopes, granted_at, expires_at)
   SELECT 'grt_' || p.user_id || a.n, p.user_id, p.user_ref, 'app_' || a.n, 1, '{health:read:mood}', now(), now() + a.n * interval '1 hour'
   FROM person p, generate_series(1, 3) a(n)`,
  `INSERT INTO webhook_endpoint (id, client_id, url, events)
   SELECT 'whe_' || n, 'app_' || n, 'https://app.test', '{data.updated}' FROM generate_series(1, ${ROWS}) n`,
  `INSERT INTO webhook_event (endpoint_id, type, state, next_attempt_at, created_at)
   SELECT 'whe_' || n % 20, 'test', CASE WHEN n % 10 = 0 THEN 'delivered' ELSE 'pending' END,
     CASE WHEN n % 10 <> 0 THEN now() END, now() - n * interval '1 minute'
   FROM generate_series(1, ${ROWS}) n`,
  `INSERT INTO consent_audit.operator_act
   SELECT n, now(), 'operator:on-call', 'rpc', NULL, '', '', 'reason', 'req_' || n, 0, '', '' FROM generate_series(1, ${ROWS}) n`,
  'ANALYZE app, person, consent_grant, webhook_endpoint, webhook_event, consent_audit.operator_act',
];

beforeAll(async () => {
  for (const statement of FILLED) await owner.query(statement);
});

/** Statements that read all endpoints, of which there are few, and find their events by indexes. */
const READS_ENDPOINTS = '-- Indexes: none for the endpoints, all of which it reads;';

// The pools of lists and of withdrawals plan without these settings, for the values of each call; here their statements only show that the
// indexes suffice.
test.each(
  STATEMENTS.filter(([, text]) => !text.includes('-- Indexes: none') || text.includes(READS_ENDPOINTS)),
)(
  '%s finds everything by the indexes that its comment names, if planned with KEY_LOOK_UPS',
  async (_, text) => {
    const client = await owner.connect();
    try {
      for (const [name, value] of Object.entries(KEY_LOOK_UPS)) await client.query(`SET ${name} = ${value}`);
      const plan = await explainGeneric(client, text);
      const mayScan = text.includes(READS_ENDPOINTS) ? 'webhook_endpoint' : 'access_uncounted';
      expect(plan).not.toMatch(new RegExp(`Seq Scan on (?!${mayScan})|Hash Join|Merge Join`));
      expect(listNamedIndexes(text)).not.toEqual([]);
      expect(listIndexes(plan)).toEqual(expect.arrayContaining(listNamedIndexes(text)));
    } finally {
      client.release(true);
    }
  },
);

test('every statement says which indexes it needs', () => {
  const silent = STATEMENTS.filter(([, text]) => !/^-- Indexes: +\S/m.test(text)).map(([file]) => file);
  expect(silent).toEqual([]);
});

const RUNS = 7;

// Without a setting, Postgres plans a statement for its values five times and then keeps a plan for any values.
test.each(['ordinary', 'revocations', 'access', 'checks', 'webhooks'] as const)(
  'the pool %s plans a statement for the values of each call if it makes lists or withdraws, else once',
  async (name) => {
    await using pools = await openSmallPools(database.url);
    const client = await pools[name].connect();
    try {
      const findApp = { name: 'find-app', text: 'SELECT FROM app WHERE client_id = $1' };
      for (let run = 0; run < RUNS; run += 1) await runStatement(client, findApp, `app_${run}`);
      const { rows } = await client.query(
        `SELECT custom_plans::int AS custom, generic_plans::int AS generic FROM pg_prepared_statements WHERE name = 'find-app'`,
      );
      const forValues = name === 'ordinary' || name === 'revocations';
      expect(rows).toEqual([forValues ? { custom: RUNS, generic: 0 } : { custom: 0, generic: RUNS }]);
    } finally {
      client.release();
    }
  },
);
