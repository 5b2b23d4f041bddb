import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '@phds/test-kit/conditions';
import { type RunningService, registerApp } from './running-service.ts';
import { ALL_EVENTS, type WebhookHarness } from './webhook-harness.ts';
import { setUpWebhook, startWithWebhooks } from './webhook-scenario.ts';

let consent: RunningService;
let harness: WebhookHarness;

beforeAll(async () => {
  ({ consent, harness } = await startWithWebhooks());
});
afterAll(async () => {
  await harness[Symbol.asyncDispose]();
  await consent[Symbol.asyncDispose]();
});

const URL_OF_APP = 'https://pulse.test/events';

async function owned() {
  const app = await registerApp(consent);
  const session = await consent.session(app.ownerId);
  const { clientId } = app;
  const put = (change: { url?: string; events?: string[] } = {}) =>
    harness.webhooks.putWebhook({ clientId, url: URL_OF_APP, events: ALL_EVENTS, ...change }, session);
  return { clientId, session, put };
}

describe('an endpoint', () => {
  test('shows its secret when it is made, keeps it when it is changed, and gets another when it is made again', async () => {
    const { clientId, session, put } = await owned();
    const made = await put();
    expect(made.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(made.webhook).toMatchObject({ url: URL_OF_APP, events: ALL_EVENTS, disabledReason: '' });
    const changed = await put({
      url: 'https://pulse.test/other',
      events: ['data.updated', 'grant.revoked', 'data.updated'],
    });
    expect(changed).toMatchObject({
      secret: '',
      webhook: { url: 'https://pulse.test/other', events: ['grant.revoked', 'data.updated'] },
    });
    await harness.webhooks.deleteWebhook({ clientId }, session);
    await harness.webhooks.deleteWebhook({ clientId }, session);
    await expect(harness.webhooks.getWebhook({ clientId }, session)).rejects.toThrow('no webhook endpoint');
    expect((await put()).secret).not.toBe(made.secret);
  });

  test('is made once by two calls at the same time', async () => {
    const { put } = await owned();
    const secrets = (await Promise.all([put(), put(), put()])).map(({ secret }) => secret);
    expect(secrets.filter((secret) => secret !== '')).toHaveLength(1);
  });

  test.each([
    [{ url: 'ftp://pulse.test/' }, 'https://'],
    [{ url: 'https://10.0.0.1/' }, 'private or reserved'],
    [{ url: 'https://[fd00::1]/' }, 'private or reserved'],
    [{ url: '' }, 'url'],
    [{ events: [] }, 'at least one'],
    [{ events: ['grant.revoked', 'grant.made'] }, 'unknown: grant.made'],
  ])('with %j is refused', async (change, message) => {
    const { put } = await owned();
    await expect(put(change)).rejects.toThrow(message);
  });
});

describe('another developer', () => {
  test('finds neither the endpoint nor the app, whatever they try', async () => {
    const { clientId, put } = await owned();
    await put();
    const other = await consent.session('somebody-else');
    const { webhooks } = harness;
    const eventId = 'evt_00000000000000000000000000000000';
    for (const attempt of [
      webhooks.getWebhook({ clientId }, other),
      webhooks.putWebhook({ clientId, url: URL_OF_APP, events: ALL_EVENTS }, other),
      webhooks.deleteWebhook({ clientId }, other),
      webhooks.rotateWebhookSecret({ clientId }, other),
      webhooks.sendTestEvent({ clientId }, other),
      webhooks.listDeliveries({ clientId }, other),
      webhooks.redeliverEvent({ clientId, eventId }, other),
    ]) {
      await expect(attempt).rejects.toMatchObject({ reason: 'not_found' });
    }
    await expect(webhooks.getWebhook({ clientId })).rejects.toMatchObject({ reason: 'unauthorized' });
  });

  test('cannot deliver an event of somebody else’s app again', async () => {
    const setting = await setUpWebhook(consent, harness);
    await setting.causeThree('theirs');
    await harness.deliver();
    const [event] = await setting.deliveries();
    const { clientId, session, put } = await owned();
    await put();
    await expect(
      harness.webhooks.redeliverEvent({ clientId, eventId: event!.id }, session),
    ).rejects.toMatchObject({ reason: 'not_found' });
  });
});

describe('the log', () => {
  test('lists events by state and page, with their body and attempts', async () => {
    const setting = await setUpWebhook(consent, harness);
    await setting.causeThree('logged');
    await harness.deliver();
    expect(await setting.deliveries('pending')).toEqual([]);
    const all = await setting.deliveries();
    expect(all.map(({ type, state }) => [type, state])).toEqual([
      ['grant.revoked', 'delivered'],
      ['grant.narrowed', 'delivered'],
      ['grant.narrowed', 'delivered'],
    ]);
    expect(JSON.parse(all[0]!.body)).toEqual(JSON.parse(setting.receiver.events[2]!.body));
    expect(all[0]!.attempts).toMatchObject([{ status: 204, failure: '' }]);
    await expect(setting.deliveries('lost')).rejects.toThrow('pending, delivered, failed');
  });

  test('and its events are removed after their days, the endpoint is kept', async () => {
    const setting = await setUpWebhook(consent, harness);
    await setting.causeThree('pruned');
    await harness.deliver();
    const ids = (await setting.deliveries()).map(({ id }) => id);
    await consent.owner.query(
      `UPDATE webhook_event SET created_at = now() - interval '31 days' WHERE id = ANY($1)`,
      [ids.slice(1)],
    );
    // Prunes when it starts.
    const another = await consent.startAnother();
    await eventually(async () => {
      expect((await setting.deliveries()).map(({ id }) => id)).toEqual(ids.slice(0, 1));
    });
    await another[Symbol.asyncDispose]();
    const { rows } = await consent.owner.query(
      'SELECT event_id FROM webhook_attempt WHERE event_id = ANY($1)',
      [ids],
    );
    expect(rows).toEqual([{ event_id: ids[0] }]);
  });
});

test('at most ten tests are sent in a minute', async () => {
  const { clientId, session, put } = await owned();
  await put();
  const send = () => harness.webhooks.sendTestEvent({ clientId }, session);
  const sent = await Promise.allSettled(Array.from({ length: 12 }, send));
  expect(sent.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
  await expect(send()).rejects.toMatchObject({ reason: 'rate_limited' });
});

test('an overlap of more than a week is refused', async () => {
  const { clientId, session, put } = await owned();
  await put();
  const rotate = (overlapSeconds: number) =>
    harness.webhooks.rotateWebhookSecret({ clientId, overlapSeconds }, session);
  await expect(rotate(604_801)).rejects.toThrow('overlapSeconds');
  const secrets = [await rotate(604_800), await rotate(0)];
  expect(secrets[1]!.webhook!.previousSecretExpiresAt).toBeUndefined();
  expect(secrets[0]!.secret).not.toBe(secrets[1]!.secret);
});
