import { describe, expect, test } from '@jest/globals';
import { Verdict } from '@phds/contracts/phds/consent/v1/access_pb';
import { AppStatus, GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { accessOf, approve, GLUCOSE, HEART, MOOD, registerApp, shareConsent } from './running-service.ts';

const consent = await shareConsent();
const { asReader, asEnder } = consent.grants;
const REASON = { headers: { 'phds-reason': 'contract%20ended' } };

async function connect(userId: string, dataFrom = '') {
  const app = await registerApp(consent);
  return { app, ...(await approve(consent, app, userId, { dataFrom })) };
}

/** Whether the person shares heart readings with the app, as a service is told. */
const isShared = async ({ userId, clientId }: { userId: string; clientId: string }, scope = HEART) =>
  (await asReader.checkSharing({ userId, clientId, scope })).shared;

describe('whether a person shares a scope with an app', () => {
  test('is answered with the grant, its end and its first day', async () => {
    const { userId, clientId, grantId, grantExpiresAt } = await connect('sharing-ada', '2026-01-01');
    expect(await asReader.checkSharing({ userId, clientId, scope: GLUCOSE })).toMatchObject({
      shared: true,
      grantId,
      expiresAt: { seconds: grantExpiresAt?.seconds },
      dataFrom: '2026-01-01',
    });
  });

  test('is no for another scope, person and app', async () => {
    const shared = await connect('sharing-bob');
    const { app: other } = await connect('sharing-cleo');
    expect(await isShared(shared, MOOD)).toBe(false);
    expect(await isShared({ ...shared, userId: 'sharing-cleo' })).toBe(false);
    expect(await isShared({ ...shared, clientId: other.clientId })).toBe(false);
    expect(await isShared({ ...shared, clientId: 'app_unknown' })).toBe(false);
  });

  test('is no as soon as the scope is withdrawn, the grant ends, its time is over, or its app is suspended', async () => {
    const [narrowed, revoked, expired, suspended] = [
      await connect('n-dora'),
      await connect('r-dora'),
      await connect('e-dora'),
      await connect('s-dora'),
    ];
    await consent.as('n-dora').narrowGrant({ id: narrowed.grantId, scopes: [GLUCOSE], setScopes: true });
    await consent.as('r-dora').revokeGrant({ id: revoked.grantId });
    await consent.rows(
      `UPDATE consent_grant SET granted_at = now() - interval '2 days', expires_at = now() - interval '1 day' WHERE id = $1`,
      expired.grantId,
    );
    const set = (status: AppStatus) => consent.ledger.setAppStatus({ clientId: suspended.clientId, status });
    await set(AppStatus.SUSPENDED);
    for (const each of [narrowed, revoked, expired, suspended]) expect(await isShared(each)).toBe(false);
    await set(AppStatus.ACTIVE);
    expect(await isShared(suspended)).toBe(true);
    expect(await isShared(narrowed, GLUCOSE)).toBe(true);
  });
});

test('a service reads the grants of a person, and one by its id', async () => {
  const { userId, grantId, clientId } = await connect('read-ada');
  const { grants, total } = await asReader.listGrants({ userId, status: GrantStatus.ACTIVE });
  expect({ total, ids: grants.map(({ id }) => id) }).toEqual({ total: 1, ids: [grantId] });
  expect(await asReader.getGrant({ grantId })).toMatchObject({ userId, grant: { app: { clientId } } });
  expect((await asReader.listGrants({ userId: 'read-nobody' })).total).toBe(0);
  await expect(asReader.getGrant({ grantId: 'grt_unknown' })).rejects.toMatchObject({ reason: 'not_found' });
});

describe('a service that ends a grant', () => {
  test('is in the record with its name and the reason, and the person sees the act', async () => {
    const shared = await connect('ended-ada');
    await asEnder.endGrant({ grantId: shared.grantId }, REASON);
    expect(await isShared(shared)).toBe(false);
    const { acts } = await consent.acts.asOperator.listActs({});
    const own = acts.filter(({ grantId }) => grantId === shared.grantId);
    expect(own).toMatchObject([
      { operator: 'service:billing', rpc: 'phds.consent.v1.GrantService/EndGrant', reason: 'contract ended' },
    ]);
    expect(acts.filter(({ ends }) => ends === own[0]?.number)).toMatchObject([{ outcome: 'OK' }]);
    const seen = await consent.as('ended-ada').listOwnActs({});
    expect(seen.acts).toMatchObject([{ clientId: shared.clientId }]);
    const { grant } = await asReader.getGrant({ grantId: shared.grantId });
    expect(grant).toMatchObject({ status: GrantStatus.REVOKED, endedBy: 'operator' });
  });

  test('needs a reason', async () => {
    const shared = await connect('ended-bob');
    await expect(asEnder.endGrant({ grantId: shared.grantId })).rejects.toMatchObject({
      reason: 'invalid_request',
    });
    expect(await isShared(shared)).toBe(true);
  });
});

test('a service records an access and has it judged', async () => {
  const { userId, grantId, clientId } = await connect('recorded-ada');
  const record = async () => {
    const { verdicts } = await consent.recordsAsService.recordAccess({
      accesses: [{ ...accessOf({ grantId, clientId, userId }), endpoint: '/images/{id}' }],
    });
    return verdicts;
  };
  expect(await record()).toEqual([Verdict.RELEASED]);
  await asEnder.endGrant({ grantId }, REASON);
  expect(await record()).toEqual([Verdict.GRANT_REVOKED]);
  const { accesses } = await consent.as(userId).listAccesses({ grantId });
  expect(accesses.map(({ endpoint }) => endpoint)).toEqual(['/images/{id}', '/images/{id}']);
});

test('a service without the role is told which one it needs', async () => {
  await expect(asEnder.listGrants({ userId: 'read-ada' })).rejects.toMatchObject({
    reason: 'caller_not_admitted',
    message: 'billing may not call ListGrants; it needs consent-reader',
  });
  await expect(asReader.endGrant({ grantId: 'grt_x' }, REASON)).rejects.toMatchObject({
    message: 'support-desk may not call EndGrant; it needs consent-ender',
  });
});
