import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { newId } from '@phds/service-kit/ids';
import { eventually } from '@phds/test-kit/conditions';
import { FakeClock } from '@phds/test-kit/fake-clock';
import type pg from 'pg';
import { createWebhookQueue, measurePending } from '../src/webhooks/queue.ts';
import { approve, GLUCOSE, HEART, registerApp } from './running-service.ts';
import { shareWebhooks, THREE, typesOf } from './webhook-harness.ts';

const { consent, harness } = await shareWebhooks();

const accepted = { at: new Date('2026-03-01T08:00:00Z'), status: 204, failure: null, ms: 1 };
const reportHeart = (userIds: readonly string[]) => {
  const at = timestampFromDate(new Date('2026-03-01T08:00:00Z'));
  const changes = userIds.map((userId) => ({ userId, category: 'heart', at, latestReadingAt: at }));
  return harness.events.reportDataChanges({ changes });
};

async function count(condition: string): Promise<number> {
  const rows = await consent.rows(
    `SELECT count(*)::int AS count FROM webhook_event e JOIN webhook_endpoint w ON w.id = e.endpoint_id WHERE ${condition}`,
  );
  return rows[0].count;
}

describe('the backlog', () => {
  test('a revocation is told before the new data of all other grants, however long that has been due', async () => {
    const { app, receiver } = await harness.setUp();
    const users = Array.from({ length: 40 }, (_, each) => `backlog-${each}`);
    const grants = await Promise.all(users.map((user) => approve(consent, app, user)));
    await reportHeart(users);
    await harness.letTimePass(60_000);
    const { grantId } = grants.at(-1)!;
    await consent.as(users.at(-1)!).revokeGrant({ id: grantId });
    const sender = harness.addSender({ concurrency: 1 });
    await sender.claimDue();
    await sender.idle();
    expect(receiver.events[0]).toMatchObject({ type: 'grant.revoked', data: { grantId } });
    expect(typesOf(receiver.events, grantId)).toEqual(['grant.revoked']);
    expect(receiver.events).toHaveLength(40);
  });

  test('a narrowing does not wait for the time at which new data of its grant is due, and follows that data', async () => {
    const { app, receiver } = await harness.setUp();
    const { grantId: id } = await approve(consent, app, 'early', { requested: [HEART, GLUCOSE] });
    await reportHeart(['early']);
    const session = await consent.session('early');
    await consent.asGateway.narrowGrant({ id, scopes: [HEART], setScopes: true }, session);
    await harness.deliver();
    expect(typesOf(receiver.events, id)).toEqual(['data.updated', 'grant.narrowed']);
  });

  test('a revocation does not wait for the next attempt of new data that was refused and is not sent any more', async () => {
    const { app, receiver } = await harness.setUp();
    const { grantId: id } = await approve(consent, app, 'retried');
    await reportHeart(['retried']);
    await harness.letTimePass(10_000);
    receiver.answer = () => 500;
    await harness.deliver();
    receiver.answer = () => 204;
    await harness.letTimePass(1_000);
    await consent.as('retried').revokeGrant({ id });
    await harness.deliver();
    expect(typesOf(receiver.events, id)).toEqual(['grant.revoked']);
  });

  test('events that wait for an earlier one of their grant are not read by every claim, and are due when it is delivered', async () => {
    const { app, receiver } = await harness.setUp();
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
    await harness.setUp();
    await consent.owner.query(
      `INSERT INTO webhook_event (endpoint_id, type, next_attempt_at, attempts)
     SELECT w.id, 'test', now() + make_interval(hours => n), 1 FROM webhook_endpoint w, generate_series(0, 2500) n`,
    );
    await consent.owner.query(
      `UPDATE webhook_endpoint SET failures = 9, failing_since = now() - interval '1 hour'`,
    );
    const claimed = await harness.claimOne();
    await harness.queue.recordOutcome(claimed, accepted, { state: 'delivered' });
    expect(await count(`e.state = 'pending' AND e.next_attempt_at <= now()`)).toBe(2_500);
  });

  test('a sender that ends takes back the attempt that it gives back, except that the event counts as sent', async () => {
    await harness.setUp();
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
    const { app, receiver } = await harness.setUp();
    const { grantId } = await approve(consent, app, 'wearer');
    for (let minute = 0; minute < 11; minute += 1) {
      await reportHeart(['wearer']);
      await harness.letTimePass(60_000);
      await harness.deliver();
    }
    expect(typesOf(receiver.events, grantId).length).toBeGreaterThanOrEqual(2);
    expect(typesOf(receiver.events, grantId).length).toBeLessThanOrEqual(3);
  });

  test('the log shows the newest 20 attempts of an event', async () => {
    const setting = await harness.setUp();
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
    const setting = await harness.setUp();
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
    const down = await harness.setUp();
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
    expect(await measurePending(consent.owner)).toMatchObject({ oldestDueMs: null });

    const up = await harness.setUp();
    await approve(consent, up.app, 'late-3');
    await reportHeart(['late-3']);
    await harness.letTimePass(1_200_000);
    expect((await measurePending(consent.owner)).oldestDueMs).toBeGreaterThan(1_000_000);
  });
});

const clock = new FakeClock();
const SHARED = 'dev_one';

/** Endpoints with due events. A host and an owner for each, unless given. */
async function addApps(
  count: number,
  { owner = newId('dev'), host = '', type = 'grant.revoked', events = 4 } = {},
) {
  const apps = Array.from({ length: count }, (_, index) =>
    registerApp(consent, owner === SHARED ? owner : `${owner}-${index}`),
  );
  const ids = (await Promise.all(apps)).map(({ clientId }) => clientId);
  await consent.owner.query(
    `WITH endpoint AS (INSERT INTO webhook_endpoint (id, client_id, url, events)
       SELECT id, id, 'https://' || coalesce(nullif($2, ''), id) || '.test/', ARRAY['grant.revoked'] FROM unnest($1::text[]) id)
     INSERT INTO webhook_event (endpoint_id, grant_id, sub_hash, type)
     SELECT id, id || n, decode(repeat('00', 32), 'hex'), $3 FROM unnest($1::text[]) id, generate_series(1, $4::int) n`,
    [ids, host, type, events],
  );
  return ids;
}

/** A sender of eight places whose requests never end; `hosts` are those that it requested. */
function addHangingSender() {
  const hosts: string[] = [];
  const post = (request: { url: string }, signal: AbortSignal) => {
    hosts.push(new URL(request.url).hostname);
    return new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  };
  const poster = { ...harness.poster, post };
  return { hosts, sender: harness.addSender({ concurrency: 8, clock, poster }) };
}

const ROOM = { events: 8, lateEvents: 6, slowEvents: 8, perEndpoint: 4, perShare: 2 };
const LIMITS = { ...ROOM, slow: new Set<string>(), busy: new Map(), leaseMs: 60_000 };

const SHARES: [string, { owner?: string; host?: string }][] = [
  ['owner', { owner: SHARED }],
  ['host', { host: 'relay' }],
];

describe('the shares of the places', () => {
  beforeEach(() => consent.owner.query('DELETE FROM webhook_endpoint'));

  test.each(SHARES)('one %s has a quarter of the places, whatever the number of apps', async (_, shared) => {
    await addApps(5, shared);
    const { hosts, sender } = addHangingSender();
    await sender.claimDue();
    expect(hosts).toHaveLength(2);
    await addApps(3);
    await sender.claimDue();
    expect(hosts).toHaveLength(8);
  });

  test.each<[string, { owner?: string; host?: string; type?: string }]>([
    ['the share of an owner', { owner: SHARED }],
    ['the share of a host', { host: 'relay' }],
    ['the reserve for what is not new data', { type: 'data.updated' }],
  ])('what %s holds back is delivered as soon as a delivery makes room', async (_, held) => {
    await addApps(10, { ...held, events: 1 });
    let ended = 0;
    const poster = { ...harness.poster, post: async () => ({ status: 204, failure: null }) };
    const onDelivery = () => {
      ended += 1;
    };
    const sender = harness.addSender({ concurrency: 8, clock, poster, onDelivery });
    await sender.claimDue();
    await sender.idle();
    expect(ended).toBe(10);
  });

  test.each(SHARES)('slow receivers of one %s leave its fast ones a share, once', async (_, shared) => {
    await addApps(6, shared);
    const { hosts, sender } = addHangingSender();
    for (const delivering of [2, 4, 4]) {
      await sender.claimDue();
      expect(hosts).toHaveLength(delivering);
      clock.advance(1_000);
    }
  });

  test.each(SHARES)('slow and fast receivers of one %s each have a share of a claim', async (_, shared) => {
    const endpoints = await addApps(2, shared);
    const claimed = await harness.queue.claim({ ...LIMITS, endpoints, slow: new Set(endpoints.slice(1)) });
    expect(claimed.map(({ endpoint }) => endpoint.id).sort()).toEqual([...endpoints, ...endpoints].sort());
  });

  test('slow receivers get places of their own, and others are not delayed by more than a second', async () => {
    await addApps(5);
    const { hosts, sender } = addHangingSender();
    await sender.claimDue();
    expect(hosts).toHaveLength(8);
    const [, quick = ''] = await addApps(2, { events: 1 });
    await sender.claimDue();
    expect(hosts).toHaveLength(8);
    clock.advance(1_000);
    await sender.claimNew(60_000);
    expect(hosts.filter((host) => quick.toLowerCase().endsWith(host.replace('.test', '')))).toHaveLength(1);
    // The slow ones have as many places again, but not more.
    await addApps(20);
    await sender.claimDue();
    clock.advance(1_000);
    await sender.claimDue();
    expect(hosts).toHaveLength(16);
  });

  test('an event that moved to a new endpoint during the claim is not sent without an address', async () => {
    const rows = [{ id: 'evt_moved', url: null }];
    const pool = { query: async () => ({ rows: rows.splice(0) }) } as unknown as pg.Pool;
    expect(await createWebhookQueue(pool).claim({ ...LIMITS, endpoints: [] })).toEqual([]);
  });

  test('a quarter of the places is reserved for what is not new data', async () => {
    await addApps(10, { type: 'data.updated' });
    const endpoints = await harness.queue.findDue(20);
    const limits = { ...LIMITS, endpoints };
    expect(await harness.queue.claim(limits)).toHaveLength(6);
    const urgent = await addApps(1);
    const next = { ...limits, endpoints: [...endpoints, ...urgent], lateEvents: 0, events: 2 };
    expect((await harness.queue.claim(next)).map(({ endpoint }) => endpoint.id)).toEqual([
      ...urgent,
      ...urgent,
    ]);
  });

  test('a look for new events reads those alone, and finds the rest when all endpoints are looked at', async () => {
    await addApps(3);
    await consent.owner.query(`UPDATE webhook_event SET created_at = now() - interval '1 minute'`);
    const added = await addApps(1);
    expect(await harness.queue.findDue(10, 3_000)).toEqual(added);
    expect(await harness.queue.findDue(10)).toHaveLength(4);
    const { hosts, sender } = addHangingSender();
    await sender.claimNew(3_000);
    expect(new Set(hosts).size).toBe(1);
    await sender.claimDue();
    expect(hosts).toHaveLength(8);
  });
});
