import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from '@jest/globals';
import { toProfile } from '@phds/catalog/app-profile';
import { decodeJwt } from 'jose';
import { listChanges, type ProfileVersion } from '../src/app-profiles.ts';
import { renamingAt } from './renamed-apps.ts';
import {
  accessOf,
  approve,
  HEART,
  openPending,
  type RegisteredApp,
  record,
  registerApp,
  shareConsent,
} from './running-service.ts';

const consent = await shareConsent();

const { rename, versionsOf, grantOf, approveOpened } = renamingAt(() => consent);

describe('the versions of an app’s profile', () => {
  test('are added with each change and only then', async () => {
    const app = await registerApp(consent);
    await rename(app, app.name);
    await openPending(consent, app);
    expect(await versionsOf(app)).toEqual([[1, 'Pulse Diary']]);
    await rename(app, 'Data Broker');
    // Opening a request also reports a change whose own report was lost.
    await openPending(consent, { ...app, name: 'Fitness Friend' });
    expect(await versionsOf(app)).toEqual([
      [1, 'Pulse Diary'],
      [2, 'Data Broker'],
      [3, 'Fitness Friend'],
    ]);
  });

  test('are not added for a profile older than the known one, whatever reports it', async () => {
    const [early, late] = ['2026-03-01T12:00:00Z', '2026-03-01T12:00:01Z'].map((at) =>
      timestampFromDate(new Date(at)),
    );
    const app = await registerApp(consent);
    await consent.ledger.putApp({ app: { ...app, updatedAt: early! } });
    await consent.ledger.putApp({ app: { ...app, name: 'Data Broker', updatedAt: late! } });
    // Authorization had read the app before the change, and its message arrives later.
    const id = await openPending(consent, { ...app, updatedAt: early! });
    await consent.ledger.putApp({ app: { ...app, updatedAt: early! } });
    expect(await versionsOf(app)).toEqual([
      [1, 'Pulse Diary'],
      [2, 'Data Broker'],
    ]);
    const shown = await consent.as('late').getPendingApproval({ id });
    expect(shown.pendingApproval?.app?.name).toBe('Data Broker');
    const { grantId } = await approveOpened(id, 'late');
    expect(await grantOf(grantId, 'late')).toMatchObject({
      app: { name: 'Data Broker' },
      currentAppName: 'Data Broker',
      appChanges: [],
    });
  });

  test('are added in sequence when an app is changed and opens a request concurrently', async () => {
    const app = await registerApp(consent);
    const names = Array.from({ length: 8 }, (_, index) => `Name ${index}`);
    await Promise.all(
      names.flatMap((name) => [rename(app, name), openPending(consent, { ...app, name: `${name} asks` })]),
    );
    const versions = await versionsOf(app);
    expect(versions.map(([version]) => version)).toEqual(Array.from({ length: 17 }, (_, index) => index + 1));
    const rows = await consent.rows(
      "SELECT profile->>'name' AS name FROM app WHERE client_id = $1",
      app.clientId,
    );
    expect(versions.at(-1)?.[1]).toBe(rows[0].name);
  });

  test('that are kept are the first and the latest 20; a person still sees the original and the final name', async () => {
    const app = await registerApp(consent);
    const { grantId } = await approve(consent, app, 'patient');
    for (let number = 2; number <= 30; number += 1) await rename(app, `Name ${number}`);
    const versions = await versionsOf(app);
    expect(versions.map(([version]) => version)).toEqual([
      1,
      ...Array.from({ length: 20 }, (_, index) => index + 11),
    ]);
    const { app: shown, currentAppName, appChanges = [] } = (await grantOf(grantId, 'patient')) ?? {};
    expect([shown?.name, currentAppName]).toEqual(['Pulse Diary', 'Name 30']);
    expect(appChanges).toHaveLength(20);
    expect(appChanges[0]).toMatchObject({ field: 'name', from: 'Pulse Diary', to: 'Name 11' });
    expect(appChanges.at(-1)).toMatchObject({ from: 'Name 29', to: 'Name 30' });
  });
});

describe('a list of grants', () => {
  const listOf = async (userId: string) => (await consent.as(userId).listGrants({})).grants;

  test('contains the latest change of each field of each active grant, to stay small; a single grant contains all changes', async () => {
    const app = await registerApp(consent);
    const { grantId } = await approve(consent, app, 'lister');
    for (let number = 1; number <= 20; number += 1) {
      const url = (page: string) => `https://pulse.test/${page}/${String(number).padStart(490, '0')}`;
      const links = { homepageUrl: url('home'), privacyPolicyUrl: url('privacy') };
      const texts = { description: `Number ${number}`, developerName: `Developer ${number}` };
      await consent.ledger.putApp({ app: { ...app, ...links, ...texts } });
    }
    const single = await grantOf(grantId, 'lister');
    expect(single?.appChanges).toHaveLength(80);
    expect(await listOf('lister')).toEqual([{ ...single, appChanges: single?.appChanges.slice(-4) }]);
    await consent.as('lister').revokeGrant({ id: grantId });
    expect(await listOf('lister')).toMatchObject([{ id: grantId, appChanges: [] }]);
    expect((await grantOf(grantId, 'lister'))?.appChanges).toHaveLength(80);
  });
});

describe('an app that was renamed and then approved again', () => {
  const accessesOf = async (userId: string) =>
    (await consent.as(userId).listAccesses({})).accesses.map(({ appName, currentAppName }) => [
      appName,
      currentAppName,
    ]);
  const daysOf = async (userId: string, grantId: string) =>
    (await consent.as(userId).listAccessDays({ grantId })).days.map(({ appName, currentAppName }) => [
      appName,
      currentAppName,
    ]);

  test('keeps its earlier name for accesses before that approval', async () => {
    const app = await registerApp(consent);
    const grant = await approve(consent, app, 'again');
    await record(consent, accessOf(grant));
    await rename(app, 'Data Broker');
    await record(consent, accessOf(grant));
    const joined = await approve(consent, { ...app, name: 'Data Broker' }, 'again');
    expect(joined.grantId).toBe(grant.grantId);
    await record(consent, accessOf(grant));
    expect(await accessesOf('again')).toEqual([
      ['Data Broker', 'Data Broker'],
      ['Pulse Diary', 'Data Broker'],
      ['Pulse Diary', 'Data Broker'],
    ]);
  });

  test('is named at an access stamped before the first approval (by a slow clock) as in that approval', async () => {
    const app = await registerApp(consent);
    await rename(app, 'Fitness Friend');
    const grant = await approve(consent, { ...app, name: 'Fitness Friend' }, 'slow');
    await record(consent, accessOf(grant));
    await consent.owner.query('ALTER TABLE consent_event DISABLE TRIGGER consent_event_append_only');
    await consent.owner.query("UPDATE consent_event SET at = at + interval '1 minute' WHERE grant_id = $1", [
      grant.grantId,
    ]);
    await consent.owner.query('ALTER TABLE consent_event ENABLE TRIGGER consent_event_append_only');
    expect(await accessesOf('slow')).toEqual([['Fitness Friend', 'Fitness Friend']]);
  });

  test('is named in the days of an ended grant as that grant showed it', async () => {
    const app = await registerApp(consent);
    const ended = await approve(consent, app, 'ended');
    await record(consent, accessOf(ended));
    await consent.as('ended').revokeGrant({ id: ended.grantId });
    await rename(app, 'Data Broker');
    const next = await approve(consent, { ...app, name: 'Data Broker' }, 'ended');
    await record(consent, accessOf(next));
    expect(await daysOf('ended', ended.grantId)).toEqual([['Pulse Diary', 'Data Broker']]);
    expect(await daysOf('ended', next.grantId)).toEqual([['Data Broker', 'Data Broker']]);
    expect(await daysOf('ended', '')).toEqual([['Data Broker', 'Data Broker']]);
  });
});

describe('the changes of an app since a version', () => {
  const [first, second, third] = [1, 2, 3].map((day) => new Date(`2026-03-0${day}T12:00:00.000Z`));
  const profile = { ...toProfile(() => ''), name: 'A' };
  const versions: ProfileVersion[] = [
    { ...profile, version: 1, since: first as Date },
    { ...profile, name: 'B', privacyPolicyUrl: 'https://a.test/p', version: 2, since: second as Date },
    { ...profile, privacyPolicyUrl: 'https://a.test/p', version: 3, since: third as Date },
  ];

  test('are listed by field, oldest first, including changes that were reverted', () => {
    expect(listChanges({ ...profile, version: 1 }, versions)).toEqual([
      { field: 'name', from: 'A', to: 'B', at: second },
      { field: 'privacyPolicyUrl', from: '', to: 'https://a.test/p', at: second },
      { field: 'name', from: 'B', to: 'A', at: third },
    ]);
  });
});

const DIARY = { description: 'Keeps a diary of your pulse.', developerName: 'Diary GmbH' };
const BROKER = { description: 'Finds buyers.', developerName: 'Broker Ltd' };
const put = (app: RegisteredApp, texts: Partial<typeof DIARY>) =>
  consent.ledger.putApp({ app: { ...app, ...texts } });
const changesOf = async (grantId: string, userId: string) =>
  (await grantOf(grantId, userId))?.appChanges.map(({ field, from, to }) => [field, from, to]);
const partiesOf = async (grantId: string, userId: string) => {
  const { receipt } = await consent.as(userId).getReceipt({ grantId });
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
    const { pendingApproval } = await consent.as('reader').getPendingApproval({ id });
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
});

describe('a grant', () => {
  test('names the purpose and the host of its latest approval', async () => {
    const app = await registerApp(consent);
    const { grantId } = await approve(consent, app, 'twice');
    expect(await grantOf(grantId, 'twice')).toMatchObject({
      purpose: 'Draw your pulse.',
      redirectHost: 'pulse.test',
    });
    const id = await openPending(consent, app, [HEART], true, { redirectHost: 'other.test', purpose: '' });
    expect((await approveOpened(id, 'twice')).grantId).toBe(grantId);
    expect(await grantOf(grantId, 'twice')).toMatchObject({ purpose: '', redirectHost: 'other.test' });
    const listed = await consent.as('twice').listGrants({});
    expect(listed.grants).toMatchObject([{ purpose: '', redirectHost: 'other.test' }]);
  });
});
