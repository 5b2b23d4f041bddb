import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AppStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import type { WebhookReceiver } from '@phds/test-kit/webhook-receiver';
import {
  approve,
  GLUCOSE,
  HEART,
  MOOD,
  type RegisteredApp,
  type RunningService,
  registerApp,
  startConsent,
} from './running-service.ts';
import { openWebhookHarness, type WebhookHarness } from './webhook-harness.ts';

let consent: RunningService;
let harness: WebhookHarness;
let app: RegisteredApp;
let receiver: WebhookReceiver;

beforeAll(async () => {
  const settings = { WEBHOOK_INTERVAL_MS: '86400000', WEBHOOK_DATA_SPACING_MS: '10000' };
  consent = await startConsent({ settings });
  harness = await openWebhookHarness(consent);
  app = await registerApp(consent);
  receiver = await harness.receive(app);
});
afterAll(async () => {
  await harness[Symbol.asyncDispose]();
  await consent[Symbol.asyncDispose]();
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
    const { grantId } = await approve(consent, again, 'again');
    await report('again', ['heart']);
    await harness.webhooks.deleteWebhook({ clientId: again.clientId }, session);
    const second = await harness.receive(again);
    await report('again', ['glucose']);
    expect(await updatesOf(grantId, second)).toMatchObject([{ categories: ['glucose', 'heart'] }]);
  });
});

describe('reports', () => {
  test('of unknown categories, without a person or of too many changes are refused', async () => {
    await expect(report('bad', ['shoes'])).rejects.toThrow('category');
    await expect(report('', ['heart'])).rejects.toThrow();
    await expect(
      report(
        'bad',
        Array.from({ length: 1_001 }, () => 'heart'),
      ),
    ).rejects.toThrow('at most 1000');
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
