import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { newId } from '@phds/service-kit/ids';
import { FakeClock } from '@phds/test-kit/fake-clock';
import { type RunningService, registerApp } from './running-service.ts';
import type { WebhookHarness } from './webhook-harness.ts';
import { startWithWebhooks } from './webhook-scenario.ts';

let consent: RunningService;
let harness: WebhookHarness;
const clock = new FakeClock();
const SHARED = 'dev_one';

beforeAll(async () => {
  ({ consent, harness } = await startWithWebhooks());
});
afterAll(async () => {
  await harness[Symbol.asyncDispose]();
  await consent[Symbol.asyncDispose]();
});
beforeEach(() => consent.owner.query('DELETE FROM webhook_endpoint'));

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

const SHARES: [string, { owner?: string; host?: string }][] = [
  ['owner', { owner: SHARED }],
  ['host', { host: 'relay' }],
];

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
  const room = { events: 8, lateEvents: 6, slowEvents: 8, perEndpoint: 4, perShare: 2 };
  const limits = { ...room, endpoints, slow: new Set(endpoints.slice(1)), busy: new Map(), leaseMs: 60_000 };
  const claimed = await harness.queue.claim(limits);
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

test('a quarter of the places is reserved for what is not new data', async () => {
  await addApps(10, { type: 'data.updated' });
  const endpoints = await harness.queue.findDue(20);
  const room = { events: 8, lateEvents: 6, slowEvents: 8, perEndpoint: 4, perShare: 2 };
  const limits = { ...room, endpoints, slow: new Set<string>(), busy: new Map(), leaseMs: 60_000 };
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
