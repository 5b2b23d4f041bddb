import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { newId } from '@phds/service-kit/ids';
import { applyMigrations } from '@phds/service-kit/postgres/migrations';
import { createTestDatabase, type TestDatabase } from '@phds/test-kit/databases';
import { openTestPool } from '@phds/test-kit/test-pool';
import { decodeJwt } from 'jose';
import type pg from 'pg';
import { renamingAt } from './renamed-apps.ts';
import {
  accessOf,
  approve,
  openPending,
  type RunningService,
  record,
  registerApp,
  startConsent,
} from './running-service.ts';

let consent: RunningService;

beforeAll(async () => {
  consent = await startConsent();
});
afterAll(() => consent[Symbol.asyncDispose]());

const UPGRADE = '20261122042500_shown_profiles';
const { rename, versionsOf, grantOf, approveOpened } = renamingAt(() => consent);
const MIGRATIONS = join(import.meta.dirname, '../prisma/migrations');

/** A database of the release before a migration. */
interface EarlierDatabase {
  readonly database: TestDatabase;
  /** Applies the migrations that are missing, all or those before `end`. */
  readonly upgrade: (end?: string) => Promise<string[]>;
}

/** Creates a database with the migrations before `end`. */
async function createDatabaseBefore(end: string): Promise<EarlierDatabase> {
  const database = await withMigrationsBefore(end, (migrations) =>
    createTestDatabase('consent', { migrations }),
  );
  const { ownerUrl, schema } = database;
  const upgradeFrom = (directory: string) =>
    applyMigrations({ connectionString: ownerUrl, schema, directory });
  return {
    database,
    upgrade: (before) =>
      before === undefined ? upgradeFrom(MIGRATIONS) : withMigrationsBefore(before, upgradeFrom),
  };
}

async function withMigrationsBefore<T>(end: string, use: (directory: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'phds-migrations-'));
  try {
    const entries = await readdir(MIGRATIONS, { withFileTypes: true });
    for (const entry of entries.filter((entry) => entry.isDirectory() && entry.name < end))
      await cp(join(MIGRATIONS, entry.name), join(directory, entry.name), { recursive: true });
    return await use(directory);
  } finally {
    await rm(directory, { recursive: true });
  }
}

const receiptOf = async (grantId: string, userId: string) => {
  const { receipt } = await consent.asGateway.getReceipt({ grantId }, await consent.session(userId));
  return decodeJwt<{ purposes: Record<string, unknown>[]; party_identification: object[] }>(receipt);
};

describe('a decision of an earlier release, which did not store what it showed', () => {
  test('is shown with the oldest known profile and no host, and the receipt states that it was not recorded', async () => {
    const app = await registerApp(consent);
    const id = await openPending(consent, app);
    await consent.owner.query('UPDATE pending_approval SET shown_app = NULL WHERE id = $1', [id]);
    const { grantId, clientId, userId } = await approveOpened(id, 'early');
    await rename(app, 'Data Broker');
    const receipt = await receiptOf(grantId, 'early');
    const { rows } = await consent.owner.query('SELECT since FROM app_profile WHERE client_id = $1', [
      clientId,
    ]);
    expect(receipt.purposes).toMatchObject([
      {
        recipient: {
          party_name: 'Pulse Diary',
          party_url: 'https://pulse.test/',
          privacy_notice: 'https://pulse.test/privacy',
          redirect_host: null,
          as_shown: false,
          as_of: rows[0].since.toISOString(),
        },
      },
    ]);
    expect(receipt.party_identification).toMatchObject([{ party_name: 'Pulse Diary' }]);
    expect(await grantOf(grantId, 'early')).toMatchObject({
      app: { name: 'Pulse Diary' },
      currentAppName: 'Data Broker',
      appChanges: [{ field: 'name', from: 'Pulse Diary', to: 'Data Broker' }],
      redirectHost: '',
    });
    const { apps } = await consent.asGateway.listConnectedApps({}, await consent.session('early'));
    expect(apps).toMatchObject([{ name: 'Pulse Diary', redirectHost: '' }]);
    await record(consent, accessOf({ grantId, clientId, userId }));
    const { accesses } = await consent.history.listAccesses({}, await consent.session('early'));
    expect(accesses).toMatchObject([{ appName: 'Pulse Diary', currentAppName: 'Data Broker' }]);
  });

  test('is shown with the current profile if no other is known', async () => {
    const app = await registerApp(consent);
    const id = await openPending(consent, app);
    await consent.owner.query('UPDATE pending_approval SET shown_app = NULL WHERE id = $1', [id]);
    await consent.owner.query('DELETE FROM app_profile WHERE client_id = $1', [app.clientId]);
    const shown = await consent.asGateway.getPendingApproval({ id }, await consent.session('early2'));
    expect(shown.pendingApproval?.app?.name).toBe('Pulse Diary');
    const { grantId } = await approveOpened(id, 'early2');
    const receipt = await receiptOf(grantId, 'early2');
    expect(receipt.purposes).toMatchObject([{ recipient: { party_name: 'Pulse Diary', as_shown: false } }]);
    expect(await grantOf(grantId, 'early2')).toMatchObject({ app: { name: 'Pulse Diary' }, appChanges: [] });
  });
});

/** As an instance of the release before the one that stores what was shown. */
const INSERT_PENDING_AS_EARLIER_RELEASE = `
  INSERT INTO pending_approval (id, client_id, app_epoch, redirect_host, scopes, purpose, client_authenticated, expires_at)
  VALUES ($1, $2, 1, 'diary.test', '{read:mood}', '', true, now() + interval '10 minutes')`;

describe('an instance of an earlier release beside this one', () => {
  test('opens requests that show the app as it was then', async () => {
    const app = await registerApp(consent);
    const id = newId('apr');
    await consent.owner.query(INSERT_PENDING_AS_EARLIER_RELEASE, [id, app.clientId]);
    await rename(app, 'Data Broker');
    const shown = await consent.asGateway.getPendingApproval({ id }, await consent.session('beside'));
    expect(shown.pendingApproval?.app?.name).toBe('Pulse Diary');
    const { grantId } = await approveOpened(id, 'beside');
    expect((await receiptOf(grantId, 'beside')).purposes).toMatchObject([
      { recipient: { party_name: 'Pulse Diary', redirect_host: 'diary.test', as_shown: true } },
    ]);
  });

  test('accepts approvals that keep what the screen showed', async () => {
    const app = await registerApp(consent);
    const { grantId } = await approve(consent, app, 'taken');
    await rename(app, 'Data Broker');
    const id = await openPending(consent, { ...app, name: 'Data Broker' });
    await consent.owner.query(
      `INSERT INTO consent_event (id, grant_id, at, kind, pending_id, scopes, expires_at)
       VALUES (gen_random_uuid(), $1, now(), 'granted', $2, '{read:mood}', now() + interval '1 day')`,
      [grantId, id],
    );
    expect((await receiptOf(grantId, 'taken')).purposes).toMatchObject([
      { recipient: { party_name: 'Pulse Diary', as_shown: true } },
      { recipient: { party_name: 'Data Broker', as_shown: true } },
    ]);
  });

  test('registers apps whose first name is kept when they are renamed through this one', async () => {
    const app = await registerApp(consent);
    await consent.owner.query('DELETE FROM app_profile WHERE client_id = $1', [app.clientId]);
    await rename(app, 'Data Broker');
    expect(await versionsOf(app)).toEqual([
      [1, 'Pulse Diary'],
      [2, 'Data Broker'],
    ]);
  });
});

describe('the upgrade', () => {
  test('stores the profile of each app and open request, so that a later rename affects neither receipts of earlier decisions nor open screens', async () => {
    const { database, upgrade } = await createDatabaseBefore(UPGRADE);
    const pendingId = newId('apr');
    const owner = openTestPool(database.ownerUrl, { max: 1, options: '-c search_path=consent' });
    await owner.query(`
        WITH app AS (
          INSERT INTO app (client_id, owner_id, name, homepage_url, privacy_policy_url, logo_url)
          VALUES ('app_old', 'dev', 'Diabetes Diary', '', 'https://diary.test/privacy', '')
        ), person AS (
          INSERT INTO person (user_id) VALUES ('before') RETURNING user_ref
        ), granted AS (
          INSERT INTO consent_grant (id, user_id, user_ref, client_id, app_epoch, scopes, granted_at, expires_at)
          SELECT 'grt_old', 'before', user_ref, 'app_old', 1, '{read:mood}', now(), now() + interval '1 day' FROM person
        )
        INSERT INTO consent_event (id, grant_id, at, kind, scopes, expires_at)
        VALUES (gen_random_uuid(), 'grt_old', now(), 'granted', '{read:mood}', now() + interval '1 day')`);
    await owner.query(`${INSERT_PENDING_AS_EARLIER_RELEASE}`, [pendingId, 'app_old']);
    await owner.end();
    await upgrade();
    await using upgraded = await startConsent({ database });
    const app = { clientId: 'app_old', ownerId: 'dev', name: 'Data Broker' };
    await upgraded.ledger.putApp({ app });
    const session = await upgraded.session('before');
    const { receipt } = await upgraded.asGateway.getReceipt({ grantId: 'grt_old' }, session);
    const recipient = {
      party_name: 'Diabetes Diary',
      privacy_notice: 'https://diary.test/privacy',
      as_shown: false,
    };
    expect(decodeJwt(receipt)).toMatchObject({ purposes: [{ recipient }] });
    const { grant } = await upgraded.asGateway.getGrant({ id: 'grt_old' }, session);
    expect(grant).toMatchObject({ app: { name: 'Diabetes Diary' }, currentAppName: 'Data Broker' });
    const open = await upgraded.asGateway.getPendingApproval({ id: pendingId }, session);
    expect(open.pendingApproval?.app?.name).toBe('Diabetes Diary');
    await upgraded.asAuthorization.approve({ id: pendingId, allRequested: true }, session);
    const signed = await upgraded.asGateway.getReceipt({ grantId: 'grt_old' }, session);
    const seen = { ...recipient, as_shown: true, redirect_host: 'diary.test' };
    expect(decodeJwt(signed.receipt)).toMatchObject({ purposes: [{ recipient }, { recipient: seen }] });
  });
});

describe('the upgrade of a table in use', () => {
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
});
