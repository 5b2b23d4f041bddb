import { randomBytes } from 'node:crypto';
import { fromBinary } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AppStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { type Eviction, EvictionSchema } from '@phds/contracts/phds/events/v1/eviction_pb';
import { timeOfUuid, toUuidText } from '@phds/record-chain/uuid';
import { newId } from '@phds/service-kit/ids';
import { subscribeRedis } from '@phds/service-kit/redis';
import { createLogger } from '@phds/service-kit/telemetry/log';
import { eventually } from '@phds/test-kit/conditions';
import { FakeClock } from '@phds/test-kit/fake-clock';
import { createTestRedis, describeWithRedis, type TestRedis } from '@phds/test-kit/redis';
import { createAccessRecordStamps } from '../src/app/access-record-stamps.ts';
import {
  approve,
  GLUCOSE,
  openPending,
  type RunningService,
  registerApp,
  startConsent,
} from './running-service.ts';

const soon = () => timestampFromMs(Date.now() + 3_600_000);

describeWithRedis('evictions', () => {
  let consent: RunningService;
  let redis: TestRedis;
  let listener: AsyncDisposable;
  const heard: Eviction['subject'][] = [];

  beforeAll(async () => {
    redis = await createTestRedis();
    consent = await startConsent({ settings: { REDIS_URL: redis.url } });
    const subscribed = Promise.withResolvers<void>();
    listener = subscribeRedis(
      redis.url,
      {
        channels: ['phds.events.v1'],
        onMessage: (_channel, payload) => heard.push(fromBinary(EvictionSchema, payload).subject),
        onSubscribed: subscribed.resolve,
      },
      createLogger({ service: 'test', level: 'silent' }),
    );
    await subscribed.promise;
  });
  afterAll(async () => {
    await listener[Symbol.asyncDispose]();
    await consent[Symbol.asyncDispose]();
    await redis[Symbol.asyncDispose]();
  });

  test('evictions are published for every withdrawal, with its subject', async () => {
    const app = await registerApp(consent);
    const session = await consent.session('ada');
    const { grantId } = await approve(consent, app, 'ada');
    const [familyId, tokenHash] = [newId('fam'), randomBytes(32)];
    const told = (subject: object) =>
      eventually(() => expect(heard).toContainEqual(expect.objectContaining(subject)));
    await consent.ledger.revokeFamily({ familyId, expiresAt: soon() });
    await told({ case: 'familyId', value: familyId });
    await consent.ledger.revokeToken({ tokenHash, expiresAt: soon() });
    await told({ case: 'tokenHash', value: new Uint8Array(tokenHash) });
    await consent.ledger.setAppStatus({ clientId: app.clientId, status: AppStatus.SUSPENDED });
    await told({ case: 'clientId', value: app.clientId });
    await consent.ledger.setAppStatus({ clientId: app.clientId, status: AppStatus.ACTIVE });
    for (const withdraw of [
      () => approve(consent, app, 'ada', { approved: [GLUCOSE] }),
      () => consent.asGateway.narrowGrant({ id: grantId, dataFrom: '2026-01-01' }, session),
      () => consent.asGateway.revokeGrant({ id: grantId }, session),
    ]) {
      heard.length = 0;
      await withdraw();
      await told({ case: 'grantId', value: grantId });
    }
    const { grantId: next } = await approve(consent, app, 'ada');
    await consent.asGateway.revokeAllGrants({}, session);
    await told({ case: 'grantId', value: next });
  });

  test('evictions that cannot be published delay nothing', async () => {
    await redis.stop();
    const { grantId } = await approve(consent, await registerApp(consent), 'grace');
    await consent.asGateway.revokeGrant({ id: grantId }, await consent.session('grace'));
    await redis.start();
  });
});

describe('pruning', () => {
  test('removes rows that can no longer matter, and no others', async () => {
    await using consent = await startConsent({ settings: { PRUNE_INTERVAL_MS: '20' } });
    const app = await registerApp(consent);
    const [oldPending, newPending] = [await openPending(consent, app), await openPending(consent, app)];
    const families = [newId('fam'), newId('fam')];
    const tokens = [randomBytes(32), randomBytes(32)];
    for (const familyId of families) await consent.ledger.revokeFamily({ familyId, expiresAt: soon() });
    for (const tokenHash of tokens) await consent.ledger.revokeToken({ tokenHash, expiresAt: soon() });
    await consent.owner.query(
      `UPDATE pending_approval SET created_at = now() - interval '31 days' WHERE id = $1`,
      [oldPending],
    );
    await consent.owner.query(
      `UPDATE revoked_family SET expires_at = now() - interval '8 days', revoked_at = now() - interval '38 days'
       WHERE family_id = $1`,
      [families[0]],
    );
    await consent.owner.query(
      `UPDATE revoked_token SET expires_at = now() - interval '8 days', revoked_at = now() - interval '8 days'
       WHERE token_hash = $1`,
      [tokens[0]],
    );
    await consent.owner.query(
      `UPDATE revoked_token SET expires_at = now() - interval '6 days' WHERE token_hash = $1`,
      [tokens[1]],
    );
    await consent.owner.query(
      `INSERT INTO app_report (id, at, client_id, app_name, redirect_host, reason, text, grant_id)
       SELECT 'rpt_' || days, now() - make_interval(days => days), $1, 'Pulse Diary', '', 'other', '', 'grt_1'
       FROM unnest(ARRAY[729, 731]) AS days`,
      [app.clientId],
    );
    const left = async (column: string, table: string) =>
      (await consent.owner.query(`SELECT ${column} AS value FROM ${table}`)).rows.map((row) => row.value);
    await eventually(async () => {
      expect(await left('id', 'pending_approval')).toEqual([newPending]);
      expect(await left('family_id', 'revoked_family')).toEqual([families[1]]);
      expect(await left('token_hash', 'revoked_token')).toEqual([tokens[1]]);
      expect(await left('id', 'app_report')).toEqual(['rpt_729']);
    });
  });

  test('works off a backlog at the start, skipping locked rows', async () => {
    await using consent = await startConsent();
    const holder = await consent.owner.connect();
    try {
      await consent.owner.query(
        `INSERT INTO revoked_token (token_hash, expires_at, revoked_at)
         SELECT sha256(n::text::bytea), now() - interval '8 days', now() - interval '8 days'
         FROM generate_series(1, 2500) AS n`,
      );
      await holder.query(`BEGIN; SELECT FROM revoked_token WHERE token_hash = sha256('1') FOR UPDATE`);
      const left = async () => (await consent.owner.query('SELECT FROM revoked_token')).rows.length;
      // A round that a busy machine delays beyond its time limits is repeated.
      const start = () => consent.startAnother({ PRUNE_INTERVAL_MS: '1000' });
      const [one, two] = await Promise.all([start(), start()]);
      await using _one = one;
      await using _two = two;
      await eventually(async () => expect(await left()).toBe(1));
    } finally {
      await holder.query('ROLLBACK');
      holder.release();
    }
  });
});

describe('ids of records', () => {
  const text = (ids: readonly Uint8Array[]) => ids.map(toUuidText);

  test('grow, also within a millisecond, beyond its 4096 ids, and when the clock goes back', () => {
    const clock = new FakeClock();
    const stamps = createAccessRecordStamps(clock);
    const ids = Array.from({ length: 50 }, () => text(stamps.next(100).ids)).flat();
    clock.advance(-1_000);
    ids.push(...text(stamps.next(1).ids));
    clock.advance(5_000);
    ids.push(...text(stamps.next(500).ids));
    expect(ids).toEqual(ids.toSorted());
    expect(new Set(ids).size).toBe(5_501);
  });

  test('of one stamp share its millisecond, and are UUIDs of version 7 that start with it', () => {
    const clock = new FakeClock('2022-02-22T19:22:22.000Z');
    const stamps = createAccessRecordStamps(clock);
    for (let turn = 0; turn < 20; turn += 1) {
      const { at, ids } = stamps.next(500);
      expect(new Set(ids.map(timeOfUuid))).toEqual(new Set([at]));
    }
    expect(text(createAccessRecordStamps(clock).next(1).ids)[0]).toMatch(
      /^017f22e2-79b0-7000-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
  });
});
