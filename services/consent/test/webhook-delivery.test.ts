import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from '@jest/globals';
import { eventually } from '@phds/test-kit/conditions';
import type { WebhookQueue } from '../src/webhooks/queue.ts';
import { registerApp } from './running-service.ts';
import { ALL_EVENTS, shareWebhooks, THREE, typesOf } from './webhook-harness.ts';

const { consent, harness } = await shareWebhooks();

const HOUR = 3_600_000;

describe('a receiver', () => {
  test('that is killed and restored gets every event, verified and in order for each grant', async () => {
    const setting = await harness.setUp();
    const { receiver } = setting;
    const before = await setting.causeThree('before');
    // The first arrives, then the receiver ends while it handles the second.
    receiver.answer = async () => {
      if (receiver.accepted.length === 0) return 204;
      await receiver.kill();
      throw new Error('killed');
    };
    await harness.deliver();
    expect(receiver.events).toHaveLength(1);
    receiver.answer = () => 204;
    const meanwhile = await Promise.all(
      ['meanwhile-1', 'meanwhile-2', 'meanwhile-3'].map((user) => setting.causeThree(user)),
    );
    // For a day it refuses connections.
    for (let time = 0; time < 4; time += 1) {
      await harness.letTimePass(6 * HOUR);
      await harness.deliver();
    }
    expect(receiver.events).toHaveLength(1);
    await receiver.restore();
    // The next attempt finds out that it is back, and makes the others due.
    for (let hour = 0; receiver.events.length === 1 && hour < 12; hour += 1) {
      await harness.letTimePass(HOUR);
      await harness.deliver();
    }
    for (const grantId of [before, ...meanwhile]) expect(typesOf(receiver.events, grantId)).toEqual(THREE);
    expect(receiver.answers).not.toContain(401);
    expect(await setting.deliveries('pending')).toEqual([]);
  });

  test('that is back gets what waits for it as soon as its developer sends a test', async () => {
    const setting = await harness.setUp();
    const { receiver, app } = setting;
    await receiver.kill();
    const grantId = await setting.causeThree('tested');
    for (const step of [0, 5_000, 300_000, 1_800_000]) {
      await harness.letTimePass(step);
      await harness.deliver();
    }
    await receiver.restore();
    await harness.letTimePass(60_000);
    await harness.deliver();
    expect(receiver.events).toEqual([]);
    await harness.webhooks.sendTestEvent({ clientId: app.clientId }, await consent.session(app.ownerId));
    await harness.deliver();
    expect(receiver.events[0]).toMatchObject({ type: 'test', data: {} });
    expect(typesOf(receiver.events, grantId)).toEqual(THREE);
  });

  test('that refuses one event gets the later ones of the grant only after it, and those of other grants at once', async () => {
    const setting = await harness.setUp();
    const { receiver } = setting;
    const [refused, other] = [await setting.causeThree('refused'), await setting.causeThree('other')];
    receiver.answer = ({ data }) => (data.grantId === refused ? 500 : 204);
    await harness.deliver();
    await harness.letTimePass(1_000);
    await harness.deliver();
    expect(typesOf(receiver.events, refused)).toEqual([]);
    expect(typesOf(receiver.events, other)).toEqual(THREE);
    receiver.answer = () => 204;
    await harness.letTimePass(5_000);
    await harness.deliver();
    expect(typesOf(receiver.events, refused)).toEqual(THREE);
  });

  test('that never accepts an event is asked for three days, less and less often, and then gets the next event', async () => {
    const setting = await harness.setUp();
    const { receiver, app } = setting;
    const id = await setting.causeThree('never');
    const attempts: number[] = [];
    let hours = 0;
    receiver.answer = ({ data }) => {
      if (data.scopes?.length === 2) attempts.push(hours);
      return data.scopes?.length === 2 ? 503 : 204;
    };
    for (const wait of [0, 1 / 720, 1 / 12, 1 / 2, 2, 5, 10, 12, 12, 12, 12]) {
      for (const step of wait > 1 / 60 ? [wait - 1 / 60, 1 / 60] : [wait]) {
        hours += step;
        await harness.letTimePass(step * HOUR);
        await harness.deliver();
      }
      expect(attempts.filter((at) => at === hours)).toHaveLength(1);
    }
    expect(attempts).toHaveLength(11);
    // A receiver that fails is asked once a minute.
    await harness.letTimePass(60_000);
    await harness.deliver();
    expect(typesOf(receiver.events, id)).toEqual(THREE.slice(1));
    const [failed] = await setting.deliveries('failed');
    expect(failed).toMatchObject({ state: 'failed', grantId: id });
    expect(failed!.attempts.map(({ status, failure }) => [status, failure])).toEqual(
      attempts.map(() => [503, 'status']),
    );
    receiver.answer = () => 204;
    const session = await consent.session(app.ownerId);
    await harness.webhooks.redeliverEvent({ clientId: app.clientId, eventId: failed!.id }, session);
    await harness.deliver();
    expect(typesOf(receiver.events, id)).toEqual(['grant.narrowed', 'grant.revoked', 'grant.narrowed']);
    expect(receiver.events.at(-1)!.id).toBe(failed!.id);
  });

  test('that is down is asked with one event at a time, at most once a minute', async () => {
    const setting = await harness.setUp();
    await setting.receiver.kill();
    for (let each = 0; each < 12; each += 1) await setting.causeThree(`down-${each}`);
    const countAttempts = async () => (await setting.deliveries()).flatMap(({ attempts }) => attempts).length;
    // The first attempts are made before anything is known about the receiver.
    await harness.deliver();
    const first = await countAttempts();
    expect(first).toBeLessThanOrEqual(4);
    for (let second = 0; second < 300; second += 10) {
      await harness.letTimePass(10_000);
      await harness.deliver();
    }
    expect((await countAttempts()) - first).toBeLessThanOrEqual(9);
  });

  test('that answers 410 gets nothing more until its developer sets the URL again', async () => {
    const setting = await harness.setUp();
    const { receiver, app } = setting;
    receiver.answer = () => 410;
    const gone = await setting.causeThree('gone');
    await harness.deliver();
    const session = await consent.session(app.ownerId);
    const { webhook } = await harness.webhooks.getWebhook({ clientId: app.clientId }, session);
    expect(webhook).toMatchObject({ disabledReason: 'gone' });
    await setting.causeThree('after-gone');
    receiver.answer = () => 204;
    await harness.letTimePass(HOUR);
    await harness.deliver();
    expect(receiver.answers).toEqual([410]);
    const { secret } = await harness.webhooks.putWebhook(
      { clientId: app.clientId, url: receiver.url, events: webhook!.events },
      session,
    );
    // It keeps its secret, and what was pending.
    expect(secret).toBe('');
    await harness.deliver();
    expect(typesOf(receiver.events, gone)).toEqual(THREE.slice(1));
  });
});

describe('senders', () => {
  test('that work at the same time deliver each event once, and in order for each grant', async () => {
    const setting = await harness.setUp();
    const grants = await Promise.all(
      Array.from({ length: 8 }, (_, each) => setting.causeThree(`several-${each}`)),
    );
    const senders = [harness.addSender(), harness.addSender({ concurrency: 3 })];
    for (let round = 0; round < 6; round += 1) {
      await Promise.all(senders.map((sender) => sender.claimDue()));
      await Promise.all(senders.map((sender) => sender.idle()));
    }
    expect(setting.receiver.accepted).toHaveLength(24);
    for (const grantId of grants) expect(typesOf(setting.receiver.accepted, grantId)).toEqual(THREE);
  });

  test('take over an event whose sender crashed between sending and storing the outcome, and send it again', async () => {
    const setting = await harness.setUp();
    const { receiver } = setting;
    const grantId = await setting.causeThree('crashed');
    const crashed = Promise.withResolvers<void>();
    const queue: WebhookQueue = {
      ...harness.queue,
      recordOutcome: () => {
        crashed.resolve();
        return Promise.reject(new Error('crashed'));
      },
    };
    const crashing = harness.addSender({ queue, concurrency: 1, onFailure: () => undefined });
    await crashing.claimDue();
    await crashed.promise;
    // Afterwards it searches once more, which must not find what becomes due below.
    await crashing.idle();
    expect(typesOf(receiver.accepted, grantId)).toEqual(THREE.slice(0, 1));
    // The lease is not over yet.
    await harness.deliver();
    expect(receiver.accepted).toHaveLength(1);
    await harness.letTimePass(60_000);
    await harness.deliver();
    expect(typesOf(receiver.accepted, grantId)).toEqual([THREE[0], ...THREE]);
    expect(typesOf(receiver.events, grantId)).toEqual(THREE);
  });

  test('do not store the outcome of a claim that another sender has taken over', async () => {
    const setting = await harness.setUp();
    const grantId = await setting.causeThree('slow');
    const slow = await harness.claimOne();
    await harness.letTimePass(60_000);
    const taken = await harness.claimOne();
    expect(taken.event.id).toBe(slow.event.id);
    const attempt = { at: new Date(), status: 204, failure: null, ms: 1 };
    await harness.queue.recordOutcome(slow, attempt, { state: 'delivered' });
    expect(await setting.deliveries('delivered')).toEqual([]);
    await harness.queue.release(taken);
    await harness.deliver();
    expect(typesOf(setting.receiver.accepted, grantId)).toEqual(THREE);
  });

  test('that end give back what they are sending', async () => {
    const setting = await harness.setUp();
    const grantId = await setting.causeThree('ending');
    const arrived = Promise.withResolvers<void>();
    setting.receiver.answer = () => {
      arrived.resolve();
      return new Promise(() => undefined);
    };
    const ending = harness.addSender();
    await ending.claimDue();
    await arrived.promise;
    await ending[Symbol.asyncDispose]();
    setting.receiver.answer = () => 204;
    await harness.deliver();
    expect(typesOf(setting.receiver.accepted, grantId)).toEqual(THREE);
  });
});

describe('the secret', () => {
  test('is rotated without loss: during the overlap every event has the signatures of both', async () => {
    const setting = await harness.setUp();
    const { app, receiver } = setting;
    const session = await consent.session(app.ownerId);
    const rotate = (overlapSeconds: number) =>
      harness.webhooks.rotateWebhookSecret({ clientId: app.clientId, overlapSeconds }, session);
    await expect(rotate(604_801)).rejects.toThrow('overlapSeconds');
    const { secret, webhook } = await rotate(3_600);
    expect(webhook!.previousSecretExpiresAt).toBeDefined();
    await setting.causeThree('overlap-old');
    await harness.deliver();
    expect(receiver.accepted).toHaveLength(3);
    expect(receiver.accepted[0]!.headers['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/);
    receiver.use(secret);
    await setting.causeThree('overlap-new');
    await harness.deliver();
    expect(receiver.accepted).toHaveLength(6);
    await harness.letTimePass(3_600_000);
    await setting.causeThree('overlap-over');
    await harness.deliver();
    expect(receiver.accepted.at(-1)!.headers['webhook-signature']).toMatch(/^v1,\S+$/);
    expect(receiver.answers.every((status) => status === 204)).toBe(true);
  });

  test('is replaced at once without an overlap, and what the receiver refused arrives when it has the new one', async () => {
    const setting = await harness.setUp();
    const { app, receiver } = setting;
    const session = await consent.session(app.ownerId);
    const rotate = (overlapSeconds: number) =>
      harness.webhooks.rotateWebhookSecret({ clientId: app.clientId, overlapSeconds }, session);
    await rotate(604_800);
    const { secret, webhook } = await rotate(0);
    expect(webhook!.previousSecretExpiresAt).toBeUndefined();
    const grantId = await setting.causeThree('replaced');
    await harness.deliver();
    expect(receiver.answers).toEqual([401]);
    receiver.use(secret);
    await harness.letTimePass(5_000);
    await harness.deliver();
    expect(typesOf(receiver.events, grantId)).toEqual(THREE);
  });
});

describe('an operator', () => {
  test('pauses an endpoint, whatever its developer does, and resumes it', async () => {
    const { app, receiver, causeThree } = await harness.setUp();
    const { clientId } = app;
    await harness.operators.setWebhookPaused({ clientId, paused: true });
    const grantId = await causeThree('paused');
    const settings = { clientId, url: receiver.url, events: ALL_EVENTS };
    const put = await harness.webhooks.putWebhook(settings, await consent.session(app.ownerId));
    expect(put.webhook).toMatchObject({ disabledReason: 'paused' });
    await harness.deliver();
    expect(receiver.events).toEqual([]);
    expect((await harness.operators.listWebhooks({})).webhooks).toMatchObject([
      { appName: 'Pulse Diary', pending: 3, failed: 0, pausedAt: {}, webhook: { clientId } },
    ]);

    await harness.operators.setWebhookPaused({ clientId, paused: false });
    await harness.deliver();
    expect(typesOf(receiver.events, grantId)).toEqual(THREE);
    const unknown = harness.operators.setWebhookPaused({ clientId: 'app_unknown', paused: true });
    await expect(unknown).rejects.toThrow('no webhook endpoint');
  });

  test('delivers again, in their order, what was given up since a time, or all', async () => {
    const { app, receiver, causeThree } = await harness.setUp();
    const grantId = await causeThree('again');
    await harness.deliver();
    const again = (since: number, deliveredToo = false) => {
      const from = timestampFromDate(new Date(since));
      return harness.operators.redeliverEvents({ clientId: app.clientId, since: from, deliveredToo });
    };
    expect(await again(0)).toMatchObject({ events: 0 });
    expect(await again(0, true)).toMatchObject({ events: 3 });
    await harness.deliver();
    expect(typesOf(receiver.accepted, grantId)).toEqual([...THREE, ...THREE]);
    await consent.owner.query(
      `UPDATE webhook_event SET state = 'failed', created_at = created_at
         - CASE type WHEN 'grant.narrowed' THEN interval '2 hours' ELSE interval '0' END WHERE grant_id = $1`,
      [grantId],
    );
    expect(await again(Date.now() - HOUR)).toMatchObject({ events: 1 });
    await harness.deliver();
    expect(typesOf(receiver.accepted, grantId)).toEqual([...THREE, ...THREE, 'grant.revoked']);
  });
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
    [{ url: 'https://10.0.0.1/' }, 'private or reserved'],
    [{ events: [] }, 'at least one'],
    [{ events: ['grant.revoked', 'grant.made'] }, 'unknown: grant.made'],
  ])('with %j is refused', async (change, message) => {
    const { put } = await owned();
    await expect(put(change)).rejects.toThrow(message);
  });
});

test('deliveries of an unknown state are refused as invalid, also without an endpoint', async () => {
  const { clientId, session } = await owned();
  const listed = harness.webhooks.listDeliveries({ clientId, state: 'lost' }, session);
  await expect(listed).rejects.toMatchObject({
    reason: 'invalid_request',
    violations: [{ parameter: 'state' }],
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
    const setting = await harness.setUp();
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
    const setting = await harness.setUp();
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
  });

  test('and its events are removed after their days, the endpoint is kept', async () => {
    const setting = await harness.setUp();
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
    const rows = await consent.rows('SELECT event_id FROM webhook_attempt WHERE event_id = ANY($1)', ids);
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
