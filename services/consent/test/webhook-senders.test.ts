import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { WebhookQueue } from '../src/webhooks/app/ports.ts';
import type { RunningService } from './running-service.ts';
import type { WebhookHarness } from './webhook-harness.ts';
import { setUpWebhook, startWithWebhooks, THREE, typesOf } from './webhook-scenario.ts';

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

describe('senders', () => {
  test('that work at the same time deliver each event once, and in order for each grant', async () => {
    const setting = await setUp();
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
    const setting = await setUp();
    const { receiver } = setting;
    const grantId = await setting.causeThree('crashed');
    const crashed = Promise.withResolvers<void>();
    const queue: WebhookQueue = {
      ...harness.queue,
      settle: () => {
        crashed.resolve();
        return Promise.reject(new Error('crashed'));
      },
    };
    await harness.addSender({ queue, concurrency: 1, onFailure: () => undefined }).claimDue();
    await crashed.promise;
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
    const setting = await setUp();
    const grantId = await setting.causeThree('slow');
    const slow = await harness.claimOne();
    await harness.letTimePass(60_000);
    const taken = await harness.claimOne();
    expect(taken.event.id).toBe(slow.event.id);
    const attempt = { at: new Date(), status: 204, failure: null, ms: 1 };
    await harness.queue.settle(slow, attempt, { state: 'delivered' });
    expect(await setting.deliveries('delivered')).toEqual([]);
    await harness.queue.release(taken);
    await harness.deliver();
    expect(typesOf(setting.receiver.accepted, grantId)).toEqual(THREE);
  });

  test('that end give back what they are sending', async () => {
    const setting = await setUp();
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
    const setting = await setUp();
    const { app, receiver } = setting;
    const session = await consent.session(app.ownerId);
    const rotate = (overlapSeconds: number) =>
      harness.webhooks.rotateWebhookSecret({ clientId: app.clientId, overlapSeconds }, session);
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
    const setting = await setUp();
    const { app, receiver } = setting;
    const session = await consent.session(app.ownerId);
    const { secret } = await harness.webhooks.rotateWebhookSecret({ clientId: app.clientId }, session);
    const grantId = await setting.causeThree('replaced');
    await harness.deliver();
    expect(receiver.answers).toEqual([401]);
    receiver.use(secret);
    await harness.letTimePass(5_000);
    await harness.deliver();
    expect(typesOf(receiver.events, grantId)).toEqual(THREE);
  });
});
