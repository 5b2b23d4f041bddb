import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '@phds/service-kit/ids';
import { openTestPool } from '@phds/test-kit/test-pool';
import { decodeJwt } from 'jose';
import { createDatabaseBefore } from './earlier-migrations.ts';
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

const UPGRADE = '20261122042500_shown_profiles';

let consent: RunningService;

beforeAll(async () => {
  consent = await startConsent();
});
afterAll(() => consent[Symbol.asyncDispose]());

const { rename, versionsOf, grantOf, approveOpened } = renamingAt(() => consent);
const receiptOf = async (grantId: string, userId: string) => {
  const { receipt } = await consent.asGateway.getReceipt({ grantId }, await consent.session(userId));
  return decodeJwt<{ purposes: Record<string, unknown>[]; party_identification: object[] }>(receipt);
};

describe('a decision of an earlier release, which did not store what it showed', () => {
  test('is shown with the oldest known profile, and the receipt states that it was not recorded', async () => {
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
    });
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
