import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Verdict } from '@phds/contracts/phds/consent/v1/access_pb';
import { eventually } from '@phds/test-kit/conditions';
import { startTcpProxy, type TcpProxy } from '@phds/test-kit/tcp-proxy';
import {
  accessOf,
  approve,
  type RunningService,
  record,
  registerApp,
  startConsent,
} from './running-service.ts';

let consent: RunningService;
let proxy: TcpProxy;

beforeAll(async () => {
  consent = await startConsent({
    settings: { DATABASE_CONNECT_TIMEOUT_MS: '2000', DATABASE_STATEMENT_TIMEOUT_MS: '2000' },
    databaseUrl: async (url) => {
      proxy = await startTcpProxy(url);
      return proxy.url;
    },
  });
});
afterAll(async () => {
  await consent[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
});

const readiness = async () => (await fetch(`http://127.0.0.1:${consent.service.probePort}/readyz`)).status;

describe('without its database', () => {
  test('nothing is released, every call answers unavailable, and the service recovers by itself', async () => {
    const grant = await approve(consent, await registerApp(consent), 'patient');
    expect(await record(consent, accessOf(grant))).toBe(Verdict.RELEASED);
    await proxy.cut();
    await expect(record(consent, accessOf(grant))).rejects.toMatchObject({
      reason: 'access_not_recorded',
      retryAfterSeconds: 1,
    });
    const session = await consent.session('patient');
    await expect(consent.asGateway.revokeGrant({ id: grant.grantId }, session)).rejects.toMatchObject({
      reason: 'unavailable',
    });
    await expect(registerApp(consent)).rejects.toMatchObject({ reason: 'unavailable' });
    expect(await readiness()).toBe(503);
    await proxy.restore();
    await eventually(async () => expect(await record(consent, accessOf(grant))).toBe(Verdict.RELEASED));
    expect(await readiness()).toBe(200);
    await consent.asGateway.revokeGrant({ id: grant.grantId }, session);
    expect(await record(consent, accessOf(grant))).toBe(Verdict.GRANT_REVOKED);
  });

  test('no session is ended or called alive, and an end that was acknowledged before is still known afterwards', async () => {
    const at = timestampFromMs(Date.now());
    const session = { tokenHash: new Uint8Array(32), sid: 'sid-outage', subject: 'away', issuedAt: at };
    const end = () => consent.sessions.endSessions({ sid: session.sid, endedAt: at });
    const check = () => consent.sessions.checkSession(session);
    await end();
    await proxy.cut();
    await expect(end()).rejects.toMatchObject({ reason: 'unavailable' });
    await expect(check()).rejects.toMatchObject({ reason: 'unavailable' });
    await proxy.restore();
    await eventually(async () => expect((await check()).ended).toBe(true));
  });

  test('nothing is released when it accepts connections but never answers', async () => {
    const grant = await approve(consent, await registerApp(consent), 'frozen');
    proxy.set({ kind: 'hold' });
    await expect(record(consent, accessOf(grant))).rejects.toMatchObject({ reason: 'access_not_recorded' });
    proxy.set({ kind: 'pass' });
    await eventually(async () => expect(await record(consent, accessOf(grant))).toBe(Verdict.RELEASED));
  });
});
