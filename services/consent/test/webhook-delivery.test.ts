import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { GIVE_UP_AFTER_MS } from '../src/webhooks/domain/event.ts';
import type { RunningService } from './running-service.ts';
import type { WebhookHarness } from './webhook-harness.ts';
import { setUpWebhook, startWithWebhooks, THREE, typesOf } from './webhook-scenario.ts';

const HOUR = 3_600_000;

let consent: RunningService;
let harness: WebhookHarness;

beforeAll(async () => {
  ({ consent, harness } = await startWithWebhooks());
});
afterAll(async () => {
  await harness[Symbol.asyncDispose]();
  await consent[Symbol.asyncDispose]();
});

const setUp = () => setUpWebhook(consent, harness);

describe('a receiver', () => {
  test('that is killed and restored gets every event, verified and in order for each grant', async () => {
    const setting = await setUp();
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
    for (let hour = 0; hour < 24; hour += 1) {
      await harness.letTimePass(HOUR);
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
    const setting = await setUp();
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
    const setting = await setUp();
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
    const setting = await setUp();
    const { receiver, app } = setting;
    const id = await setting.causeThree('never');
    const attempts: number[] = [];
    let hours = 0;
    receiver.answer = ({ data }) => {
      if (data.scopes?.length === 2) attempts.push(hours);
      return data.scopes?.length === 2 ? 503 : 204;
    };
    for (const step of [0, 5_000, 300_000, 1_800_000]) {
      await harness.letTimePass(step);
      await harness.deliver();
    }
    for (; hours < GIVE_UP_AFTER_MS / HOUR; hours += 1) {
      await harness.letTimePass(HOUR);
      await harness.deliver();
    }
    expect(attempts).toEqual([0, 0, 0, 0, 1, 6, 16, 28, 40, 52, 64]);
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
    const setting = await setUp();
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
    const setting = await setUp();
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
