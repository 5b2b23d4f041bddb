import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { latestGrants } from '../src/store/grant-lists.ts';
import { renamingAt } from './renamed-apps.ts';
import { approve, openPending, type RunningService, registerApp, startConsent } from './running-service.ts';

let consent: RunningService;

beforeAll(async () => {
  consent = await startConsent();
});
afterAll(() => consent[Symbol.asyncDispose]());

const { rename, approveOpened } = renamingAt(() => consent);
const listOf = async (userId: string, page = {}) =>
  consent.asGateway.listConnectedApps({ page }, await consent.session(userId));

describe('the apps of a person', () => {
  test('are each app once, the one with the latest grant first, in pages, whether their grants are live or ended', async () => {
    const [first, second, third] = [
      await registerApp(consent),
      await registerApp(consent),
      await registerApp(consent),
    ];
    const ended = await approve(consent, first, 'lister');
    await consent.asGateway.revokeGrant({ id: ended.grantId }, await consent.session('lister'));
    await approve(consent, second, 'lister');
    await approve(consent, third, 'lister');
    await consent.asGateway.revokeAllGrants({}, await consent.session('lister'));
    await approve(consent, first, 'lister');
    await approve(consent, await registerApp(consent), 'somebody else');
    const { apps, total } = await listOf('lister');
    expect(apps.map(({ clientId }) => clientId)).toEqual(
      [first, third, second].map(({ clientId }) => clientId),
    );
    expect(total).toBe(3);
    expect(await listOf('lister', { page: 2, pageSize: 2 })).toMatchObject({
      apps: [{ clientId: second.clientId }],
      total: 3,
    });
    expect(await listOf('nobody')).toMatchObject({ apps: [], total: 0 });
  });

  test('have the name and host of the latest approval, and the present name', async () => {
    const app = await registerApp(consent);
    const { grantId } = await approve(consent, app, 'namer');
    await rename(app, 'Data Broker');
    const about = { clientId: app.clientId, redirectHost: 'pulse.test' };
    expect((await listOf('namer')).apps).toMatchObject([
      { ...about, name: 'Pulse Diary', currentName: 'Data Broker' },
    ]);
    const joined = await approveOpened(await openPending(consent, { ...app, name: 'Data Broker' }), 'namer');
    expect(joined.grantId).toBe(grantId);
    expect((await listOf('namer')).apps).toMatchObject([
      { ...about, name: 'Data Broker', currentName: 'Data Broker' },
    ]);
  });

  test('have no host where an earlier release decided', async () => {
    const id = await openPending(consent, await registerApp(consent));
    await consent.owner.query('UPDATE pending_approval SET shown_app = NULL WHERE id = $1', [id]);
    await approveOpened(id, 'hostless');
    expect((await listOf('hostless')).apps).toMatchObject([{ name: 'Pulse Diary', redirectHost: '' }]);
  });

  test('are found by the index of the person’s grants', async () => {
    const { text, values } = latestGrants('lister');
    const client = await consent.owner.connect();
    try {
      // With few rows a scan is cheaper.
      await client.query('SET enable_seqscan = off');
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${text}`, values);
      expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain(
        'consent_grant_user_id_granted_at_id_idx',
      );
    } finally {
      await client.query('RESET enable_seqscan');
      client.release();
    }
  });
});
