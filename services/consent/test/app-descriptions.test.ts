import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '@phds/service-kit/ids';
import { decodeJwt } from 'jose';
import { renamingAt } from './renamed-apps.ts';
import {
  approve,
  HEART,
  openPending,
  type RegisteredApp,
  type RunningService,
  registerApp,
  startConsent,
} from './running-service.ts';

let consent: RunningService;

beforeAll(async () => {
  consent = await startConsent();
});
afterAll(() => consent[Symbol.asyncDispose]());

const { grantOf, approveOpened } = renamingAt(() => consent);
const DIARY = { description: 'Keeps a diary of your pulse.', developerName: 'Diary GmbH' };
const BROKER = { description: 'Finds buyers.', developerName: 'Broker Ltd' };

const put = (app: RegisteredApp, texts: Partial<typeof DIARY>) =>
  consent.ledger.putApp({ app: { ...app, ...texts } });
const changesOf = async (grantId: string, userId: string) =>
  (await grantOf(grantId, userId))?.appChanges.map(({ field, from, to }) => [field, from, to]);
const partiesOf = async (grantId: string, userId: string) => {
  const { receipt } = await consent.asGateway.getReceipt({ grantId }, await consent.session(userId));
  const { purposes, party_identification } = decodeJwt<{
    purposes: { recipient: Record<string, unknown> }[];
    party_identification: Record<string, unknown>[];
  }>(receipt);
  return [...purposes.map(({ recipient }) => recipient), ...party_identification].map(
    ({ party_developer, party_description }) => [party_developer, party_description],
  );
};

describe('the description and the developer of an app', () => {
  test('are on the screen, the grant and the receipt as they were at the request, and later changes are listed', async () => {
    const app = { ...(await registerApp(consent)), ...DIARY };
    const id = await openPending(consent, app);
    await put(app, BROKER);
    const { pendingApproval } = await consent.asGateway.getPendingApproval(
      { id },
      await consent.session('reader'),
    );
    expect(pendingApproval?.app).toMatchObject(DIARY);
    const { grantId } = await approveOpened(id, 'reader');
    expect((await grantOf(grantId, 'reader'))?.app).toMatchObject(DIARY);
    expect(await changesOf(grantId, 'reader')).toEqual([
      ['description', DIARY.description, BROKER.description],
      ['developerName', DIARY.developerName, BROKER.developerName],
    ]);
    expect(await partiesOf(grantId, 'reader')).toEqual(
      Array(2).fill([DIARY.developerName, DIARY.description]),
    );
    await put(app, { description: '', developerName: '' });
    expect((await changesOf(grantId, 'reader'))?.slice(2)).toEqual([
      ['description', BROKER.description, ''],
      ['developerName', BROKER.developerName, ''],
    ]);
  });

  test('are kept when authorization of an earlier release reports a profile without them', async () => {
    const app = await registerApp(consent);
    await put(app, DIARY);
    const { grantId } = await approve(consent, app, 'mixed');
    await consent.ledger.putApp({ app: { ...app, name: 'Renamed' } });
    const grant = await grantOf(grantId, 'mixed');
    expect(grant?.app).toMatchObject(DIARY);
    expect(await changesOf(grantId, 'mixed')).toEqual([['name', 'Pulse Diary', 'Renamed']]);
  });

  test('are absent where an earlier release decided, and becoming known is no change', async () => {
    const app = await registerApp(consent);
    const { grantId } = await approve(consent, app, 'early');
    await put(app, DIARY);
    const grant = await grantOf(grantId, 'early');
    expect([grant?.app?.description, grant?.app?.developerName]).toEqual([undefined, undefined]);
    expect(await changesOf(grantId, 'early')).toEqual([]);
    expect(await partiesOf(grantId, 'early')).toEqual(Array(2).fill([null, null]));
    await put(app, { ...DIARY, developerName: BROKER.developerName });
    expect(await changesOf(grantId, 'early')).toEqual([
      ['developerName', DIARY.developerName, BROKER.developerName],
    ]);
  });

  test('stay known when an instance of an earlier release beside this one renames the app', async () => {
    const app = { ...(await registerApp(consent)), ...DIARY };
    const { grantId } = await approve(consent, app, 'beside');
    await consent.owner.query(
      `WITH renamed AS (UPDATE app SET name = 'Renamed' WHERE client_id = $1 RETURNING *)
       INSERT INTO app_profile (client_id, version, since, name, homepage_url, privacy_policy_url, logo_url)
       SELECT client_id, (SELECT max(version) + 1 FROM app_profile p WHERE p.client_id = renamed.client_id), now(), name, homepage_url, privacy_policy_url, logo_url FROM renamed`,
      [app.clientId],
    );
    await put({ ...app, name: 'Renamed' }, BROKER);
    expect(await changesOf(grantId, 'beside')).toEqual([
      ['name', 'Pulse Diary', 'Renamed'],
      ['description', DIARY.description, BROKER.description],
      ['developerName', DIARY.developerName, BROKER.developerName],
    ]);
  });
});

describe('a grant', () => {
  test('names the purpose and the host of its latest approval', async () => {
    const app = await registerApp(consent);
    const { grantId } = await approve(consent, app, 'twice');
    expect(await grantOf(grantId, 'twice')).toMatchObject({
      purpose: 'Draw your pulse.',
      redirectHost: 'pulse.test',
    });
    const id = newId('apr');
    await consent.asAuthorization.openPendingApproval({
      id,
      app,
      appEpoch: app.epoch,
      redirectHost: 'other.test',
      scopes: [HEART],
      clientAuthenticated: true,
    });
    expect((await approveOpened(id, 'twice')).grantId).toBe(grantId);
    expect(await grantOf(grantId, 'twice')).toMatchObject({ purpose: '', redirectHost: 'other.test' });
    const listed = await consent.asGateway.listGrants({}, await consent.session('twice'));
    expect(listed.grants).toMatchObject([{ purpose: '', redirectHost: 'other.test' }]);
  });

  test('of an earlier release, which stored no host, names none', async () => {
    const app = await registerApp(consent);
    const id = await openPending(consent, app);
    await consent.owner.query('UPDATE pending_approval SET shown_app = NULL WHERE id = $1', [id]);
    const { grantId } = await approveOpened(id, 'hostless');
    expect((await grantOf(grantId, 'hostless'))?.redirectHost).toBe('');
  });
});
