import { status } from '@grpc/grpc-js';
import { beforeAll, expect, test } from '@jest/globals';
import { openIngestion } from '@phds/cli/connection';
import { expectStatus, type PartnerApp, registerApp, type Tokens } from '@phds/running-system/partner-app';
import { send } from '@phds/running-system/request';
import { HEART } from '@phds/running-system/revocation-ways';
import { Traffic } from '@phds/running-system/traffic';
import { describeWithCertificates } from '@phds/test-kit/certificates';
import { eventually } from '@phds/test-kit/conditions';
import { openClient, queryOnce } from '@phds/test-kit/open-client';
import { shared } from '@phds/test-kit/shared';
import { describeWithRedisProgram } from '@phds/test-kit/tls-servers';
import { Redis } from 'ioredis';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { RawGrpc } from '../src/raw-grpc.ts';
import { KeyRing, type Position, ROTATED, type Rotated, STEPS } from '../src/rotation/key-ring.ts';
import { ReplicatedServices, SERVICES } from '../src/rotation/replicated-services.ts';
import { startTlsDatabases, type TlsDatabases } from '../src/rotation/tls-databases.ts';

const HEART_PATH = '/api/v1/health-data/heart';
const PERSON = 'trust-inside-ada';
/** The gateways keep an assertion for at most 200 ms here. */
const OVERLAP_MS = 200;

describeWithRedisProgram(
  'two replicas of each service with TLS to each other, to Postgres and to Redis',
  () => {
    describeWithCertificates('and certificates of their own authorities', () => {
      let ring: KeyRing;
      let databases: TlsDatabases;
      let services: ReplicatedServices;
      let app: PartnerApp;
      let tokens: Tokens;

      beforeAll(async () => {
        ring = await KeyRing.create();
        databases = shared.use(await startTlsDatabases());
        const toSettings = (service: string) => ({
          ...databases.settings(service),
          ...ring.settings(service),
        });
        services = shared.use(await ReplicatedServices.start(toSettings));
        await storeReading();
        const [gateway = ''] = services.gateways;
        app = await registerApp(gateway, await ring.session('developer'));
        tokens = await app.connect(await ring.session(PERSON), [HEART]);
      });

      async function storeReading(): Promise<void> {
        const [address = ''] = services.addresses('health-data');
        using ingestion = openIngestion({
          HEALTH_DATA_ADDRESS: address,
          ...ring.settings('service:importer'),
        });
        const start = { seconds: 1_700_000_000n };
        const readings = [{ type: 'Heart Rate', start, value: 61, source: 'manual' }];
        await ingestion.client.putReadings({ userId: PERSON, readings });
      }

      function startTraffic(): Traffic {
        return new Traffic(
          () => services.gateways,
          [
            { path: HEART_PATH, bearer: () => tokens.accessToken },
            { path: '/partner/consent/grants', bearer: () => ring.session(PERSON) },
            { path: HEART_PATH, bearer: () => tokens.accessToken },
            { path: '/developer/apps', bearer: () => ring.session('developer') },
          ],
        );
      }

      /** Rotates these together: after each step, every service is restarted under traffic. */
      async function rotate(rotated: readonly Rotated[], steps: readonly Position[]): Promise<Traffic> {
        await using traffic = startTraffic();
        await traffic.pass(8);
        for (const position of steps) {
          for (const name of rotated) ring.move(name, position);
          for (const service of SERVICES) await services.restart(service, () => traffic.pass(8));
          await traffic.pass(8, OVERLAP_MS);
        }
        return traffic;
      }

      test('store, read and revoke over encrypted connections only', async () => {
        for (const gateway of services.gateways) {
          const answer = await app.at(gateway).read(tokens.accessToken, HEART_PATH);
          expect(answer.body.data).toMatchObject([{ type: 'Heart Rate', value: 61 }]);
        }
        const rows = await queryOnce(
          databases.adminUrl,
          "SELECT usename, bool_and(ssl) AS encrypted FROM pg_stat_activity JOIN pg_stat_ssl USING (pid) WHERE usename LIKE 'phds%' GROUP BY 1 ORDER BY 1",
        );
        expect(rows).toEqual(
          ['phds_authorization', 'phds_consent', 'phds_health_data'].map((usename) => ({
            usename,
            encrypted: true,
          })),
        );
        const redis = new Redis(databases.redis.url, { tls: databases.redis.tls });
        // Each gateway subscribes to the evictions that consent publishes.
        await eventually(async () => (await redis.pubsub('NUMSUB', 'phds.events.v1'))[1] === 2);
        redis.disconnect();

        const other = await app.connect(await ring.session(PERSON), [HEART]);
        expect((await app.read(other.accessToken, HEART_PATH)).status).toBe(200);
        expect((await app.revoke(other.refreshToken)).status).toBe(200);
        for (const gateway of services.gateways) {
          expect((await app.at(gateway).read(other.accessToken, HEART_PATH)).status).toBe(401);
        }
      });

      test('answer nobody without TLS', async () => {
        for (const service of ['authorization', 'consent', 'health-data'] as const) {
          for (const address of services.addresses(service)) {
            using plain = new RawGrpc(address);
            const call = { path: '/grpc.health.v1.Health/Check', authorization: null };
            expect((await plain.call({ ...call, bytes: Buffer.alloc(0) })).code).toBe(status.UNAVAILABLE);
          }
          await expect(openClient(databases.plainUrl(service))).rejects.toMatchObject({ code: '28000' });
        }
      });

      // `pnpm prove:rotation` rotates each on its own.
      const rotations = process.env['E2E_ROTATIONS'] === 'each' ? ROTATED.map((name) => [name]) : [ROTATED];
      test.each(rotations.map((names) => [names.join(', '), names] as const))(
        'refuse no request while these are rotated with an overlap: %s',
        async (_, names) => {
          services.errors.length = 0;
          services.warnings.length = 0;
          const { failures } = await rotate(names, Object.values(STEPS));
          // Shown together, because the warnings say why requests were refused.
          const causes = failures.length === 0 ? [] : services.warnings;
          expect({ failures, errors: services.errors, causes }).toEqual({
            failures: [],
            errors: [],
            causes: [],
          });
        },
      );

      test('show receipts that the published keys verify, which include the old one', async () => {
        const [gateway = ''] = services.gateways;
        const path = `/partner/consent/grants/${tokens.grantId}/receipt`;
        const session = await ring.session(PERSON);
        const { receipt } = expectStatus(200, await send(gateway + path, { bearer: session })).body.data;
        const published = (await send(`${gateway}/.well-known/jwks.json`)).body;
        expect(published.keys).toHaveLength(2);
        await expect(jwtVerify(receipt, createLocalJWKSet(published))).resolves.toBeDefined();
      });

      test('fail requests when a service key is replaced without an overlap, which these tests would notice', async () => {
        services.errors.length = 0;
        const replaced: Position = { trusted: [0], used: 0 };
        const traffic = await rotate(['service keys', 'assertion key'], [replaced]);
        expect(services.errors.join('')).toContain('caller_not_admitted');
        expect(traffic.failures.length).toBeGreaterThan(0);
      });
    });
  },
);
