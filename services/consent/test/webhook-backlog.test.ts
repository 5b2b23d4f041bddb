import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '@phds/test-kit/conditions';
import { approve, GLUCOSE, HEART, type RunningService } from './running-service.ts';
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

const accepted = { at: new Date('2026-03-01T08:00:00Z'), status: 204, failure: null, ms: 1 };

const reportHeart = (userIds: readonly string[]) => {
  const at = timestampFromDate(new Date('2026-03-01T08:00:00Z'));
  const changes = userIds.map((userId) => ({ userId, category: 'heart', at, latestReadingAt: at }));
  return harness.events.reportDataChanges({ changes });
};

async function count(condition: string): Promise<number> {
  const { rows } = await consent.owner.query(
    `SELECT count(*)::int AS count FROM webhook_event e JOIN webhook_endpoint w ON w.id = e.endpoint_id WHERE ${condition}`,
  );
  return rows[0].count;
}

test('a revocation is told before the new data of all other grants, however long that has been due', async () => {
  const { app, receiver } = await setUpWebhook(consent, harness);
  const users = Array.from({ length: 40 }, (_, each) => `backlog-${each}`);
  const grants = await Promise.all(users.map((user) => approve(consent, app, user)));
  await reportHeart(users);
  await harness.letTimePass(60_000);
  const { grantId } = grants.at(-1)!;
  await consent.asGateway.revokeGrant({ id: grantId }, await consent.session(users.at(-1)!));
  const sender = harness.addSender({ concurrency: 1 });
  await sender.claimDue();
  await sender.idle();
  expect(receiver.events[0]).toMatchObject({ type: 'grant.revoked', data: { grantId } });
  expect(typesOf(receiver.events, grantId)).toEqual(['grant.revoked']);
  expect(receiver.events).toHaveLength(40);
});

test('a narrowing does not wait for the time at which new data of its grant is due, and follows that data', async () => {
  const { app, receiver } = await setUpWebhook(consent, harness);
  const { grantId: id } = await approve(consent, app, 'early', { requested: [HEART, GLUCOSE] });
  await reportHeart(['early']);
  const session = await consent.session('early');
  await consent.asGateway.narrowGrant({ id, scopes: [HEART], setScopes: true }, session);
  await harness.deliver();
  expect(typesOf(receiver.events, id)).toEqual(['data.updated', 'grant.narrowed']);
});

test('a revocation does not wait for the next attempt of new data that was refused and is not sent any more', async () => {
  const { app, receiver } = await setUpWebhook(consent, harness);
  const { grantId: id } = await approve(consent, app, 'retried');
  await reportHeart(['retried']);
  await harness.letTimePass(10_000);
  receiver.answer = () => 500;
  await harness.deliver();
  receiver.answer = () => 204;
  await harness.letTimePass(1_000);
  await consent.asGateway.revokeGrant({ id }, await consent.session('retried'));
  await harness.deliver();
  expect(typesOf(receiver.events, id)).toEqual(['grant.revoked']);
});

test('events that wait for an earlier one of their grant are not read by every claim, and are due when it is delivered', async () => {
  const { app, receiver } = await setUpWebhook(consent, harness);
  const { grantId } = await approve(consent, app, 'fresh');
  const addEvents = (type: string, next: string, order: string) =>
    consent.owner.query(
      `INSERT INTO webhook_event (endpoint_id, grant_id, sub_hash, type, next_attempt_at, attempts)
       SELECT w.id, 'waiting-' || n, decode(repeat('00', 32), 'hex'), $1, now() + $2::interval, $3::int
       FROM webhook_endpoint w, generate_series(1, 100) n`,
      [type, next, order],
    );
  await addEvents('grant.narrowed', '1 hour', '1');
  await addEvents('grant.narrowed', '-1 hour', '0');
  await addEvents('data.updated', '-1 hour', '0');
  await reportHeart(['fresh']);
  await harness.letTimePass(10_000);
  await consent.owner.query(
    `UPDATE webhook_event SET next_attempt_at = now() - interval '1 minute' WHERE grant_id = $1`,
    [grantId],
  );
  await harness.deliver();
  expect(receiver.events.map(({ data }) => data.grantId)).toEqual([grantId]);
  expect(await count(`e.state = 'pending' AND e.next_attempt_at <= now()`)).toBe(0);
  await harness.letTimePass(3_600_000);
  await harness.deliver();
  expect(typesOf(receiver.events, 'waiting-1')).toEqual(['grant.narrowed', 'grant.narrowed']);
  expect(await count(`e.state = 'pending'`)).toBe(0);
});

test('after an outage everything that waited for its next attempt is due at once, however much it is', async () => {
  await setUpWebhook(consent, harness);
  await consent.owner.query(
    `INSERT INTO webhook_event (endpoint_id, type, next_attempt_at, attempts)
     SELECT w.id, 'test', now() + make_interval(hours => n), 1 FROM webhook_endpoint w, generate_series(0, 2500) n`,
  );
  await consent.owner.query(
    `UPDATE webhook_endpoint SET failures = 9, failing_since = now() - interval '1 hour'`,
  );
  const claimed = await harness.claimOne();
  await harness.queue.settle(claimed, accepted, { state: 'delivered' });
  expect(await count(`e.state = 'pending' AND e.next_attempt_at <= now()`)).toBe(2_500);
});

test('a sender that ends takes back the attempt that it gives back, except that the event counts as sent', async () => {
  await setUpWebhook(consent, harness);
  await consent.owner.query(
    `INSERT INTO webhook_event (endpoint_id, type, attempts) SELECT w.id, 'test', 3 FROM webhook_endpoint w`,
  );
  const later = await harness.claimOne();
  await harness.queue.release(later);
  expect(await count(`e.attempts = 3`)).toBe(1);
  await consent.owner.query('UPDATE webhook_event SET attempts = 0');
  const first = await harness.claimOne();
  await harness.queue.release(first);
  expect(await count(`e.attempts = 1`)).toBe(1);
});

test('a person whose data changes all the time makes one event in five minutes', async () => {
  const { app, receiver } = await setUpWebhook(consent, harness);
  const { grantId } = await approve(consent, app, 'wearer');
  for (let minute = 0; minute < 31; minute += 1) {
    await reportHeart(['wearer']);
    await harness.letTimePass(60_000);
    await harness.deliver();
  }
  expect(typesOf(receiver.events, grantId).length).toBeGreaterThanOrEqual(6);
  expect(typesOf(receiver.events, grantId).length).toBeLessThanOrEqual(7);
});

test('the log shows the newest 20 attempts of an event', async () => {
  const setting = await setUpWebhook(consent, harness);
  await setting.causeThree('log');
  await harness.deliver();
  const [{ id } = { id: '' }] = await setting.deliveries();
  await consent.owner.query(
    `INSERT INTO webhook_attempt (event_id, at, status, failure, ms)
     SELECT $1, now() - make_interval(mins => n), 500, 'status', n FROM generate_series(1, 30) n`,
    [id],
  );
  const [shown] = await setting.deliveries();
  expect(shown!.attempts.map(({ status, ms }) => (status === 204 ? 0 : ms))).toEqual(
    [...Array(20).keys()].toReversed(),
  );
});

test('delivered data.updated are removed after three days, others and pending ones later', async () => {
  const setting = await setUpWebhook(consent, harness);
  await approve(consent, setting.app, 'kept');
  await setting.causeThree('others');
  await reportHeart(['kept']);
  await harness.letTimePass(10_000);
  await harness.deliver();
  await reportHeart(['kept']);
  await consent.owner.query(`UPDATE webhook_event SET created_at = now() - interval '4 days'`);
  // Prunes when it starts.
  const another = await consent.startAnother();
  await eventually(async () => {
    expect((await setting.deliveries()).map(({ type, state }) => `${type} ${state}`)).toEqual([
      'data.updated pending',
      ...THREE.toReversed().map((type) => `${type} delivered`),
    ]);
  });
  await another[Symbol.asyncDispose]();
});

test('events of a receiver that is down do not count as late, however many and however long; those of one that is up do', async () => {
  const down = await setUpWebhook(consent, harness);
  await down.receiver.kill();
  const users = ['late-1', 'late-2'];
  for (const user of users) await approve(consent, down.app, user);
  await reportHeart(users);
  await harness.letTimePass(60_000);
  const sender = harness.addSender({ concurrency: 1 });
  await sender.claimDue();
  await sender.idle();
  await harness.letTimePass(1_200_000);
  expect(await count(`w.client_id = '${down.app.clientId}' AND e.state = 'pending'`)).toBe(2);
  expect(await harness.queue.measure()).toMatchObject({ oldestDueMs: null });

  const up = await setUpWebhook(consent, harness);
  await approve(consent, up.app, 'late-3');
  await reportHeart(['late-3']);
  await harness.letTimePass(1_200_000);
  expect((await harness.queue.measure()).oldestDueMs).toBeGreaterThan(1_000_000);
});
