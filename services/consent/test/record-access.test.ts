import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Verdict } from '@phds/contracts/phds/consent/v1/access_pb';
import { AppStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import {
  accessOf,
  approve,
  GLUCOSE,
  HEART,
  MOOD,
  type RegisteredApp,
  type RunningService,
  record,
  registerApp,
  startConsent,
} from './running-service.ts';

let consent: RunningService;
let app: RegisteredApp;
const anHourFromNow = () => timestampFromMs(Date.now() + 3_600_000);

beforeAll(async () => {
  consent = await startConsent();
  app = await registerApp(consent);
});
afterAll(() => consent[Symbol.asyncDispose]());

async function lastRecord(userId: string) {
  const { rows } = await consent.owner.query(
    `SELECT r.*, f.verdict FROM access_record r LEFT JOIN access_record f ON f.refers_to = r.id
     WHERE r.user_ref = (SELECT user_ref FROM person WHERE user_id = $1) AND r.refers_to IS NULL
     ORDER BY r.id DESC LIMIT 1`,
    [userId],
  );
  return rows[0];
}

describe('an access under a live grant', () => {
  test('is released, with a record of what was read and nothing of the token', async () => {
    const grant = await approve(consent, app, 'reader');
    const access = accessOf(grant);
    expect(await record(consent, access)).toBe(Verdict.RELEASED);
    const row = await lastRecord('reader');
    expect(row).toMatchObject({
      client_id: app.clientId,
      grant_id: grant.grantId,
      scope: HEART,
      endpoint: '/api/v1/health-data/heart',
      window_from: '2026-01-01',
      window_to: '',
      page: 1,
      record_count: 20,
      request_id: access.requestId,
      verdict: null,
    });
    expect(row.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab]/);
    expect(Math.abs(row.at.getTime() - Date.now())).toBeLessThan(60_000);
    expect(JSON.stringify(row)).not.toContain(access.tokenHash.toString('hex'));
    expect(JSON.stringify(row)).not.toContain('reader');
  });

  test('is judged separately from others of the same batch, in the order of the batch', async () => {
    const grant = await approve(consent, app, 'batch');
    const accesses = [
      accessOf(grant),
      { ...accessOf(grant), scope: MOOD },
      { ...accessOf(grant), userId: 'somebody-else' },
      { ...accessOf(grant), scope: GLUCOSE },
    ];
    const { verdicts } = await consent.records.recordAccess({ accesses });
    expect(verdicts).toEqual([
      Verdict.RELEASED,
      Verdict.SCOPE_WITHDRAWN,
      Verdict.GRANT_REVOKED,
      Verdict.RELEASED,
    ]);
  });

  test('is recorded in batches of up to 500', async () => {
    const grant = await approve(consent, app, 'bulk');
    const accesses = Array.from({ length: 500 }, () => accessOf(grant));
    const { verdicts } = await consent.records.recordAccess({ accesses });
    expect(new Set(verdicts)).toEqual(new Set([Verdict.RELEASED]));
    expect(verdicts).toHaveLength(500);
    const { rows } = await consent.owner.query(
      'SELECT count(*)::int AS n FROM access_record WHERE grant_id = $1',
      [grant.grantId],
    );
    expect(rows).toEqual([{ n: 500 }]);
    await expect(
      consent.records.recordAccess({ accesses: [...accesses, accessOf(grant)] }),
    ).rejects.toMatchObject({ reason: 'invalid_request' });
  });
});

describe('an access is recorded and refused', () => {
  const causes: {
    name: string;
    verdict: Verdict;
    break: (access: ReturnType<typeof accessOf>) => Promise<unknown> | unknown;
  }[] = [
    {
      name: 'token_expired',
      verdict: Verdict.TOKEN_EXPIRED,
      break: (access) => Object.assign(access, { tokenExpiresAt: Math.floor(Date.now() / 1000) - 5 }),
    },
    {
      name: 'token_revoked',
      verdict: Verdict.TOKEN_REVOKED,
      break: ({ tokenHash }) => consent.ledger.revokeToken({ tokenHash, expiresAt: anHourFromNow() }),
    },
    {
      name: 'family_revoked',
      verdict: Verdict.FAMILY_REVOKED,
      break: ({ familyId }) => consent.ledger.revokeFamily({ familyId, expiresAt: anHourFromNow() }),
    },
    {
      name: 'grant_revoked',
      verdict: Verdict.GRANT_REVOKED,
      break: async ({ grantId, userId }) =>
        consent.asGateway.revokeGrant({ id: grantId }, await consent.session(userId)),
    },
    {
      name: 'grant_expired',
      verdict: Verdict.GRANT_EXPIRED,
      break: ({ grantId }) =>
        consent.owner.query('UPDATE consent_grant SET expires_at = now() WHERE id = $1', [grantId]),
    },
    {
      name: 'scope_withdrawn',
      verdict: Verdict.SCOPE_WITHDRAWN,
      break: async ({ grantId, userId }) =>
        consent.asGateway.narrowGrant(
          { id: grantId, setScopes: true, scopes: [GLUCOSE] },
          await consent.session(userId),
        ),
    },
    {
      name: 'window_changed',
      verdict: Verdict.WINDOW_CHANGED,
      break: async ({ grantId, userId }) =>
        consent.asGateway.narrowGrant({ id: grantId, dataFrom: '2026-01-01' }, await consent.session(userId)),
    },
    {
      name: 'app_not_alive',
      verdict: Verdict.APP_NOT_ALIVE,
      break: ({ clientId }) => consent.ledger.setAppStatus({ clientId, status: AppStatus.SUSPENDED }),
    },
    {
      name: 'app_not_alive',
      verdict: Verdict.APP_NOT_ALIVE,
      break: ({ clientId }) => consent.ledger.setAppStatus({ clientId, status: AppStatus.REVOKED }),
    },
    {
      name: 'app_not_alive',
      verdict: Verdict.APP_NOT_ALIVE,
      break: (access) => Object.assign(access, { clientId: 'app_unknown' }),
    },
  ];

  test.each(causes.map((cause, index) => ({ ...cause, userId: `cause-${index}` })))(
    'as $name, at the first call after that happened ($userId)',
    async ({ name, verdict, break: breakIt, userId }) => {
      const grant = await approve(consent, await registerApp(consent), userId);
      const access = accessOf(grant);
      expect(await record(consent, access)).toBe(Verdict.RELEASED);
      await breakIt(access);
      expect(await record(consent, access)).toBe(verdict);
      expect(await lastRecord(userId)).toMatchObject({ verdict: name, request_id: access.requestId });
    },
  );

  test('as grant_revoked for a grant that does not exist, without a person', async () => {
    const access = { ...accessOf(await approve(consent, app, 'known')), grantId: 'grt_unknown' };
    expect(await record(consent, access)).toBe(Verdict.GRANT_REVOKED);
    const { rows } = await consent.owner.query('SELECT user_ref FROM access_record WHERE request_id = $1', [
      access.requestId,
    ]);
    expect(rows.map((row) => row.user_ref)).toEqual(Array(2).fill('00000000-0000-0000-0000-000000000000'));
  });

  test('when its window differs from that of the grant', async () => {
    const grant = await approve(consent, app, 'window', { dataFrom: '2026-02-01' });
    expect(await record(consent, { ...accessOf(grant), dataFrom: '2026-02-01' })).toBe(Verdict.RELEASED);
    expect(await record(consent, accessOf(grant))).toBe(Verdict.WINDOW_CHANGED);
  });

  test('as grant_revoked when the app was revoked and reactivated', async () => {
    const reborn = await registerApp(consent);
    const grant = await approve(consent, reborn, 'reborn');
    await consent.ledger.setAppStatus({ clientId: reborn.clientId, status: AppStatus.REVOKED });
    await consent.ledger.setAppStatus({ clientId: reborn.clientId, status: AppStatus.ACTIVE });
    expect(await record(consent, accessOf(grant))).toBe(Verdict.GRANT_REVOKED);
  });
});

describe('a suspended app', () => {
  test('can read again with the same token once it is active again', async () => {
    const paused = await registerApp(consent);
    const access = accessOf(await approve(consent, paused, 'paused'));
    await consent.ledger.setAppStatus({ clientId: paused.clientId, status: AppStatus.SUSPENDED });
    expect(await record(consent, access)).toBe(Verdict.APP_NOT_ALIVE);
    await consent.ledger.setAppStatus({ clientId: paused.clientId, status: AppStatus.ACTIVE });
    expect(await record(consent, access)).toBe(Verdict.RELEASED);
  });
});
