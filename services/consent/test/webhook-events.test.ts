import { timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from '@jest/globals';
import { AppStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { approve, GLUCOSE, HEART, MOOD, registerApp } from './running-service.ts';
import { letExpire, shareWebhooks } from './webhook-harness.ts';

const { consent, harness } = await shareWebhooks({ WEBHOOK_DATA_SPACING_MS: '10000' });
const app = await registerApp(consent);
const receiver = await harness.receive(app);

/** The events about a grant that were delivered, as type and content. */
async function deliveredAbout(grantId: string, from = receiver) {
  await harness.deliver();
  return from.events
    .filter(({ data }) => data.grantId === grantId)
    .map(({ type, data: { grantId: _, sub: __, ...content } }) => ({ type, ...content }));
}

const narrow = (id: string, userId: string, change: object) =>
  consent.as(userId).narrowGrant({ id, ...change });
const revoke = (id: string, userId: string) => consent.as(userId).revokeGrant({ id });

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
    await consent.as('all').revokeAllGrants({});
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
    const expiresAt = timestampDate(grantExpiresAt!).toISOString();
    expect(await deliveredAbout(grantId)).toEqual([
      { type: 'grant.narrowed', scopes: [HEART], expiresAt, dataFrom: null },
      { type: 'grant.narrowed', scopes: [HEART], expiresAt, dataFrom: '2026-01-01' },
    ]);
  });

  test('that a person asked for deletion, once, also after the end of the grant', async () => {
    const { grantId } = await approve(consent, app, 'forgetter');
    await revoke(grantId, 'forgetter');
    const ask = () => consent.as('forgetter').requestDeletion({ grantId });
    const { deletionRequestedAt } = await ask();
    await ask();
    const requestedAt = timestampDate(deletionRequestedAt!).toISOString();
    expect(await deliveredAbout(grantId)).toEqual([
      { type: 'grant.revoked', endedBy: 'person' },
      { type: 'grant.deletion_requested', requestedAt },
    ]);
    const { clientId } = app;
    const listed = await consent.asAuthorization.listAppGrants({ clientId, deletionRequested: true });
    expect(listed.grants.map(({ id }) => id)).toEqual([grantId]);
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
    const rows = await consent.rows('SELECT type FROM webhook_event WHERE grant_id = $1', erased.grantId);
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
      const rows = await consent.rows('SELECT 1 FROM webhook_event WHERE grant_id = $1', grantId);
      expect(rows).toEqual([]);
    }
    await harness.deliver();
    expect(choosyReceiver.accepted).toEqual([]);
  });
});

interface Change {
  readonly at?: string;
  readonly latest?: string;
}

function report(
  userId: string,
  categories: string[],
  { at = '2026-03-01T08:00:00Z', latest = at }: Change = {},
) {
  return harness.events.reportDataChanges({
    changes: categories.map((category) => ({
      userId,
      category,
      at: timestampFromDate(new Date(at)),
      latestReadingAt: timestampFromDate(new Date(latest)),
    })),
  });
}

/** The contents of the `data.updated` of a grant that were delivered. */
async function updatesOf(grantId: string, from = receiver) {
  // The time for which an event collects changes.
  await harness.letTimePass(10_000);
  await harness.deliver();
  return from.events
    .filter(({ type, data }) => type === 'data.updated' && data.grantId === grantId)
    .map(({ data: { categories, lastDataAt } }) => ({ categories, lastDataAt }));
}

describe('data.updated', () => {
  test('names the changed categories that the grant shares, and nothing else about the data', async () => {
    const { grantId } = await approve(consent, app, 'shared', { requested: [HEART, GLUCOSE] });
    await report('shared', ['heart', 'sleep', 'glucose']);
    expect(await updatesOf(grantId)).toEqual([
      { categories: ['glucose', 'heart'], lastDataAt: '2026-03-01T08:00:00.000Z' },
    ]);
    const body = JSON.parse(receiver.events.at(-1)!.body);
    expect(Object.keys(body)).toEqual(['type', 'timestamp', 'data']);
    expect(Object.keys(body.data).toSorted()).toEqual(['categories', 'grantId', 'lastDataAt', 'sub']);
  });

  test('takes up the changes that follow until it is sent; later ones make another', async () => {
    const { grantId } = await approve(consent, app, 'several', { requested: [HEART, GLUCOSE] });
    await report('several', ['heart'], { at: '2026-03-01T08:00:00Z' });
    await report('several', ['glucose'], { at: '2026-03-01T09:00:00Z' });
    await report('several', ['heart'], { at: '2026-03-01T08:30:00Z' });
    expect(await updatesOf(grantId)).toEqual([
      { categories: ['glucose', 'heart'], lastDataAt: '2026-03-01T09:00:00.000Z' },
    ]);
    await report('several', ['heart'], { at: '2026-03-01T10:00:00Z' });
    expect(await updatesOf(grantId)).toHaveLength(2);
  });

  test('that was sent and refused is repeated unchanged, and a change after the attempt makes another', async () => {
    const { grantId } = await approve(consent, app, 'refusing', { requested: [HEART, GLUCOSE] });
    const bodies: string[] = [];
    receiver.answer = ({ body, data }) => {
      if (data.grantId === grantId) bodies.push(body);
      return data.grantId === grantId && bodies.length < 2 ? 500 : 204;
    };
    await report('refusing', ['heart']);
    await updatesOf(grantId);
    await report('refusing', ['glucose']);
    expect(await updatesOf(grantId)).toMatchObject([{ categories: ['heart'] }, { categories: ['glucose'] }]);
    expect(bodies[1]).toBe(bodies[0]);
    receiver.answer = () => 204;
  });

  test('is not made for a change before the first day that the grant shares, with a margin of a day', async () => {
    const { grantId } = await approve(consent, app, 'dated', { dataFrom: '2026-02-01' });
    await report('dated', ['heart'], { latest: '2026-01-30T23:59:59Z' });
    expect(await updatesOf(grantId)).toEqual([]);
    await report('dated', ['heart'], { latest: '2026-01-31T12:00:00Z' });
    expect(await updatesOf(grantId)).toHaveLength(1);
  });

  test('is not sent when the grant ended or lost the category before it was sent', async () => {
    const session = await consent.session('ended');
    const { grantId } = await approve(consent, app, 'ended', { requested: [HEART, GLUCOSE, MOOD] });
    await report('ended', ['heart', 'glucose']);
    await consent.asGateway.narrowGrant({ id: grantId, scopes: [HEART, MOOD], setScopes: true }, session);
    expect(await updatesOf(grantId)).toMatchObject([{ categories: ['heart'] }]);
    await report('ended', ['heart']);
    await consent.asGateway.revokeGrant({ id: grantId }, session);
    await report('ended', ['heart']);
    expect(await updatesOf(grantId)).toHaveLength(1);
    const { deliveries } = await harness.webhooks.listDeliveries(
      { clientId: app.clientId, state: 'failed' },
      await consent.session(app.ownerId),
    );
    expect(deliveries.filter((each) => each.grantId === grantId)).toMatchObject([
      { type: 'data.updated', attempts: [{ failure: 'grant_ended', status: 0 }] },
    ]);
    const body = JSON.parse(deliveries.find((each) => each.grantId === grantId)!.body);
    expect(body.data).toEqual({ grantId, sub: expect.any(String), categories: [] });
  });

  test('is not made for an app that is suspended, did not choose it or has no endpoint, nor for others', async () => {
    const suspended = await registerApp(consent);
    const choosy = await registerApp(consent);
    const receivers = [await harness.receive(suspended), await harness.receive(choosy, ['grant.revoked'])];
    for (const each of [suspended, choosy, await registerApp(consent)])
      await approve(consent, each, 'unwanted');
    await consent.ledger.setAppStatus({ clientId: suspended.clientId, status: AppStatus.SUSPENDED });
    await approve(consent, app, 'bystander');
    const count = receiver.events.length;
    await report('unwanted', ['heart']);
    await harness.letTimePass(10_000);
    await harness.deliver();
    expect([...receivers[0]!.events, ...receivers[1]!.events]).toEqual([]);
    expect(receiver.events).toHaveLength(count);
  });

  test('goes to the endpoint that an app has now, when it was removed and made again', async () => {
    const again = await registerApp(consent);
    const session = await consent.session(again.ownerId);
    await harness.receive(again);
    const { grantId } = await approve(consent, again, 'returning');
    await report('returning', ['heart']);
    await harness.webhooks.deleteWebhook({ clientId: again.clientId }, session);
    const second = await harness.receive(again);
    await report('returning', ['glucose']);
    expect(await updatesOf(grantId, second)).toMatchObject([{ categories: ['glucose', 'heart'] }]);
  });
});

describe('reports', () => {
  test('of unknown categories, without a person or of too many changes are refused', async () => {
    await expect(report('bad', ['shoes'])).rejects.toThrow('category');
    await expect(report('', ['heart'])).rejects.toThrow();
    const tooMany = Array.from({ length: 1_001 }, () => 'heart');
    await expect(report('bad', tooMany)).rejects.toThrow('at most 1000');
  });

  test('of several people at once make one event for each grant, however many arrive together', async () => {
    const users = ['together-1', 'together-2', 'together-3'];
    const grants = await Promise.all(users.map((user) => approve(consent, app, user)));
    await Promise.all(
      Array.from({ length: 6 }, () => Promise.all(users.map((user) => report(user, ['heart', 'glucose'])))),
    );
    for (const { grantId } of grants) expect(await updatesOf(grantId)).toHaveLength(1);
  });
});
