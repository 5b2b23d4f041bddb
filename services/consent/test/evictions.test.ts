import { randomBytes } from 'node:crypto';
import { fromBinary } from '@bufbuild/protobuf';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { AppStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { SandboxGrantChange } from '@phds/contracts/phds/consent/v1/sandbox_pb';
import { type Eviction, EvictionSchema } from '@phds/contracts/phds/events/v1/eviction_pb';
import { newId } from '@phds/service-kit/ids';
import { subscribeRedis } from '@phds/service-kit/redis';
import { createLogger } from '@phds/service-kit/telemetry/log';
import { eventually } from '@phds/test-kit/conditions';
import { createTestRedis, describeWithRedis, type TestRedis } from '@phds/test-kit/redis';
import { approve, GLUCOSE, type RunningService, registerApp, startConsent } from './running-service.ts';

describeWithRedis('evictions', () => {
  let consent: RunningService;
  let redis: TestRedis;
  let listener: AsyncDisposable;
  const heard: Eviction['subject'][] = [];

  beforeAll(async () => {
    redis = await createTestRedis();
    consent = await startConsent({ settings: { REDIS_URL: redis.url, SANDBOX: 'true' } });
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
    await consent.revokeFamily(familyId);
    await told({ case: 'familyId', value: familyId });
    await consent.revokeToken(tokenHash);
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
    const { clientId, ownerId } = app;
    const { grantId: expired } = await approve(consent, app, 'ada');
    await consent
      .as(ownerId)
      .changeSandboxGrant({ clientId, grantId: expired, change: SandboxGrantChange.EXPIRE });
    await told({ case: 'grantId', value: expired });
    const { grantId: next } = await approve(consent, app, 'ada');
    await consent.asGateway.revokeAllGrants({}, session);
    await told({ case: 'grantId', value: next });
  });

  test('evictions that cannot be published delay nothing', async () => {
    await redis.stop();
    const { grantId } = await approve(consent, await registerApp(consent), 'grace');
    await consent.as('grace').revokeGrant({ id: grantId });
    await redis.start();
  });
});
