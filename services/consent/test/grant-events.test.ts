import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AppStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import type { WebhookReceiver } from '@phds/test-kit/webhook-receiver';
import {
  approve,
  GLUCOSE,
  HEART,
  type RegisteredApp,
  type RunningService,
  registerApp,
  startConsent,
} from './running-service.ts';
import { letExpire, openWebhookHarness, type WebhookHarness } from './webhook-harness.ts';

let consent: RunningService;
let harness: WebhookHarness;
let app: RegisteredApp;
let receiver: WebhookReceiver;

beforeAll(async () => {
  consent = await startConsent({ settings: { WEBHOOK_INTERVAL_MS: '86400000' } });
  harness = await openWebhookHarness(consent);
  app = await registerApp(consent);
  receiver = await harness.receive(app);
});
afterAll(async () => {
  await harness[Symbol.asyncDispose]();
  await consent[Symbol.asyncDispose]();
});

/** The events about a grant that were delivered, as type and content. */
async function deliveredAbout(grantId: string, from = receiver) {
  await harness.deliver();
  return from.events
    .filter(({ data }) => data.grantId === grantId)
    .map(({ type, data: { grantId: _, sub: __, ...content } }) => ({ type, ...content }));
}

const narrow = async (id: string, userId: string, change: object) =>
  consent.asGateway.narrowGrant({ id, ...change }, await consent.session(userId));
const revoke = async (id: string, userId: string) =>
  consent.asGateway.revokeGrant({ id }, await consent.session(userId));

describe('an app with an endpoint is told', () => {
  test('that a person revoked a grant, once, however often the person does it', async () => {
    const { grantId } = await approve(consent, app, 'revoker');
    await revoke(grantId, 'revoker');
    await revoke(grantId, 'revoker');
    expect(await deliveredAbout(grantId)).toEqual([{ type: 'grant.revoked', endedBy: 'person' }]);
  });

  test('that it ended a grant itself', async () => {
    const { grantId } = await approve(consent, app, 'ended-by-app');
    await consent.asAuthorization.revokeAppGrant({ clientId: app.clientId, id: grantId });
    expect(await deliveredAbout(grantId)).toEqual([{ type: 'grant.revoked', endedBy: 'app' }]);
  });

  test('of each grant when a person revokes all, with a sub that is another for every app', async () => {
    const other = await registerApp(consent);
    const otherReceiver = await harness.receive(other);
    const grants = [await approve(consent, app, 'all'), await approve(consent, other, 'all')];
    await consent.asGateway.revokeAllGrants({}, await consent.session('all'));
    expect(await deliveredAbout(grants[0]!.grantId)).toEqual([{ type: 'grant.revoked', endedBy: 'person' }]);
    expect(await deliveredAbout(grants[1]!.grantId, otherReceiver)).toHaveLength(1);
    const subs = [receiver, otherReceiver].flatMap(({ events }, each) =>
      events.filter(({ data }) => data.grantId === grants[each]!.grantId).map(({ data }) => data.sub),
    );
    expect(subs).toEqual([expect.stringMatching(/^sub_\w{22}$/), expect.stringMatching(/^sub_\w{22}$/)]);
    expect(new Set(subs).size).toBe(2);
  });

  test('what remains of a grant that was narrowed', async () => {
    const { grantId, grantExpiresAt } = await approve(consent, app, 'narrower');
    await narrow(grantId, 'narrower', { scopes: [HEART], setScopes: true });
    await narrow(grantId, 'narrower', { dataFrom: '2026-01-01' });
    // The same terms again.
    await narrow(grantId, 'narrower', { scopes: [HEART], setScopes: true });
    const expiresAt = new Date(
      Number(grantExpiresAt!.seconds) * 1_000 + grantExpiresAt!.nanos / 1e6,
    ).toISOString();
    expect(await deliveredAbout(grantId)).toEqual([
      { type: 'grant.narrowed', scopes: [HEART], expiresAt, dataFrom: null },
      { type: 'grant.narrowed', scopes: [HEART], expiresAt, dataFrom: '2026-01-01' },
    ]);
  });

  test('that a new approval dropped scopes or shortened the grant, but not that it widened it', async () => {
    const { grantId } = await approve(consent, app, 'again', { days: 90 });
    await approve(consent, app, 'again', { days: 180 });
    expect(await deliveredAbout(grantId)).toEqual([]);
    await approve(consent, app, 'again', { approved: [HEART], days: 180 });
    await approve(consent, app, 'again', { requested: [HEART], days: 30 });
    expect(await deliveredAbout(grantId)).toMatchObject([
      { type: 'grant.narrowed', scopes: [HEART] },
      { type: 'grant.narrowed', scopes: [HEART] },
    ]);
  });

  test('that a grant expired, not before it has, and once', async () => {
    const { grantId } = await approve(consent, app, 'expirer');
    await letExpire(consent, grantId, 1);
    // A transaction that began earlier may still set an end in this past.
    expect(await deliveredAbout(grantId)).toEqual([]);
    await letExpire(consent, grantId, 20);
    await harness.deliver();
    expect(await deliveredAbout(grantId)).toEqual([{ type: 'grant.expired', endedBy: 'expiry' }]);
  });

  test('that a grant expired, and not that it was revoked, when its person revokes it after its end', async () => {
    const { grantId } = await approve(consent, app, 'late-revoker');
    await letExpire(consent, grantId, 20);
    await revoke(grantId, 'late-revoker');
    expect(await deliveredAbout(grantId)).toEqual([{ type: 'grant.expired', endedBy: 'expiry' }]);
  });

  test('of every grant that ended with the app, in parts, and of none that had ended before', async () => {
    const ending = await registerApp(consent);
    const endingReceiver = await harness.receive(ending);
    const grants: string[] = [];
    for (const user of ['with-app-1', 'with-app-2', 'with-app-3']) {
      grants.push((await approve(consent, ending, user)).grantId);
    }
    await revoke(grants[0]!, 'with-app-1');
    await letExpire(consent, grants[1]!, 60);
    await consent.ledger.setAppStatus({ clientId: ending.clientId, status: AppStatus.REVOKED });
    // A second revocation finds the grants of the first dead.
    await consent.ledger.setAppStatus({ clientId: ending.clientId, status: AppStatus.ACTIVE });
    await consent.ledger.setAppStatus({ clientId: ending.clientId, status: AppStatus.REVOKED });
    expect(await deliveredAbout(grants[0]!, endingReceiver)).toEqual([
      { type: 'grant.revoked', endedBy: 'person' },
    ]);
    expect(await deliveredAbout(grants[1]!, endingReceiver)).toEqual([
      { type: 'grant.expired', endedBy: 'expiry' },
    ]);
    expect(await deliveredAbout(grants[2]!, endingReceiver)).toEqual([
      { type: 'grant.revoked', endedBy: 'developer' },
    ]);
  });

  test('of an erasure by a last event for each live grant, and nothing else about the person is kept', async () => {
    const erased = await approve(consent, app, 'erased');
    await narrow(erased.grantId, 'erased', { scopes: [HEART], setScopes: true });
    await consent.asOperator.eraseUser({ userId: 'erased' });
    expect(await deliveredAbout(erased.grantId)).toEqual([{ type: 'grant.revoked', endedBy: 'person' }]);
    const { rows } = await consent.owner.query('SELECT type FROM webhook_event WHERE grant_id = $1', [
      erased.grantId,
    ]);
    expect(rows).toEqual([{ type: 'grant.revoked' }]);
  });
});

describe('an app is not told', () => {
  test('of events that it did not choose, nor of any without an endpoint', async () => {
    const choosy = await registerApp(consent);
    const choosyReceiver = await harness.receive(choosy, ['grant.expired']);
    const silent = await registerApp(consent);
    for (const each of [choosy, silent]) {
      const { grantId } = await approve(consent, each, 'untold', { requested: [HEART, GLUCOSE] });
      await narrow(grantId, 'untold', { scopes: [HEART], setScopes: true });
      await revoke(grantId, 'untold');
      const { rows } = await consent.owner.query('SELECT 1 FROM webhook_event WHERE grant_id = $1', [
        grantId,
      ]);
      expect(rows).toEqual([]);
    }
    await harness.deliver();
    expect(choosyReceiver.accepted).toEqual([]);
  });
});
