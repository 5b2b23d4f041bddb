import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { TestDatabase } from '@phds/test-kit/databases';
import { openTestPool } from '@phds/test-kit/test-pool';
import type pg from 'pg';
import { createDatabaseBefore, type EarlierDatabase } from './earlier-migrations.ts';

const EVENT_KINDS = '20261122172500_deletion_requests';
const VALID_EVENT_KINDS = '20261122184500_valid_event_kinds';
const NOTICES = '20261122175500_notices';
const BUILD = 'CREATE INDEX CONCURRENTLY consent_grant_expires_at_id_idx ON consent_grant (expires_at, id)';

let database: TestDatabase | undefined;
let owner: pg.Pool;
let holder: pg.PoolClient;

beforeEach(() => {
  database = undefined;
});
afterEach(async () => {
  holder?.release(true);
  await owner?.end();
  await database?.[Symbol.asyncDispose]();
});

async function openDatabaseBefore(migration: string): Promise<EarlierDatabase> {
  const earlier = await createDatabaseBefore(migration);
  ({ database } = earlier);
  owner = openTestPool(database.ownerUrl, { max: 2, options: '-c search_path=consent' });
  holder = await owner.connect();
  return earlier;
}

async function isEventKindValid(): Promise<boolean> {
  const { rows } = await owner.query(
    "SELECT convalidated FROM pg_constraint WHERE conname = 'consent_event_kind_check'",
  );
  return rows[0].convalidated;
}

test('the upgrade reads the stored decisions for the new kind of decision only in a migration during which decisions are stored', async () => {
  const { upgrade } = await openDatabaseBefore(EVENT_KINDS);
  expect(await upgrade(VALID_EVENT_KINDS)).toContain(EVENT_KINDS);
  expect(await isEventKindValid()).toBe(false);
  const add = (kind: string) =>
    holder.query(
      `INSERT INTO consent_event (id, grant_id, at, kind, scopes, expires_at)
       VALUES (gen_random_uuid(), 'grt_1', now(), $1, '{read:mood}', now())`,
      [kind],
    );
  await expect(add('unknown')).rejects.toThrow('consent_event_kind_check');
  await holder.query('BEGIN');
  await add('deletion_requested');
  expect(await upgrade()).toContain(VALID_EVENT_KINDS);
  await holder.query('COMMIT');
  expect(await isEventKindValid()).toBe(true);
});

test('the upgrade accepts the index of the ends of grants when it was built beforehand, and refuses it when that build was interrupted', async () => {
  const { upgrade } = await openDatabaseBefore(NOTICES);
  const indexes = async () => {
    const { rows } = await owner.query(
      `SELECT indexrelid, indisvalid FROM pg_index WHERE indexrelid = to_regclass('consent_grant_expires_at_id_idx')`,
    );
    return rows;
  };
  await holder.query('BEGIN');
  await holder.query('LOCK TABLE consent_grant IN ROW EXCLUSIVE MODE');
  const builder = await owner.connect();
  await builder.query("SET lock_timeout = '50ms'");
  await expect(builder.query(BUILD)).rejects.toThrow('lock timeout');
  builder.release(true);
  await holder.query('ROLLBACK');
  expect(await indexes()).toMatchObject([{ indisvalid: false }]);
  await expect(upgrade()).rejects.toThrow(
    `migration ${NOTICES} failed: index consent_grant_expires_at_id_idx is not valid`,
  );
  await holder.query('DROP INDEX consent_grant_expires_at_id_idx');
  await holder.query(BUILD);
  const built = await indexes();
  await upgrade();
  expect(await indexes()).toEqual(built);
  expect(built).toMatchObject([{ indisvalid: true }]);
});
