import { timestampMs } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Verdict } from '@phds/contracts/phds/consent/v1/access_pb';
import { AppStatus, GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { newId } from '@phds/service-kit/ids';
import { decodeJwt } from 'jose';
import {
  accessOf,
  approve,
  openPending,
  type RegisteredApp,
  type RunningService,
  record,
  registerApp,
  startConsent,
} from './running-service.ts';

let consent: RunningService;

beforeAll(async () => {
  consent = await startConsent();
});
afterAll(() => consent[Symbol.asyncDispose]());

const SUB = /^sub_[0-9A-Za-z]{22}$/;

async function grantOf({ clientId }: RegisteredApp, id: string) {
  const { grant } = await consent.asAuthorization.getAppGrant({ clientId, id });
  if (grant === undefined) throw new Error('an answer without a grant');
  return grant;
}

/** The `sub` of a grant, which its app sees and its tokens' liveness checks return. */
async function subOf(app: RegisteredApp, { grantId }: { grantId: string }): Promise<string> {
  const { sub } = await grantOf(app, grantId);
  const { clientId, epoch: appEpoch } = app;
  const { grant } = await consent.ledger.checkLiveness({ clientId, appEpoch, grantId });
  expect(grant?.sub).toBe(sub);
  expect(sub).toMatch(SUB);
  return sub;
}

const list = async (app: RegisteredApp, filter: object = {}) =>
  (await consent.asAuthorization.listAppGrants({ clientId: app.clientId, ...filter })).grants;
const revoke = async (id: string, userId: string) =>
  consent.asGateway.revokeGrant({ id }, await consent.session(userId));
const end = ({ clientId }: RegisteredApp, id: string) =>
  consent.asAuthorization.revokeAppGrant({ clientId, id });
const expire = (id: string) =>
  consent.owner.query('UPDATE consent_grant SET expires_at = now() WHERE id = $1', [id]);

describe('the sub of a person', () => {
  test('is another one for every app and every person', async () => {
    const [one, two] = [await registerApp(consent), await registerApp(consent)];
    const subs = [
      await subOf(one, await approve(consent, one, 'sub-ada')),
      await subOf(two, await approve(consent, two, 'sub-ada')),
      await subOf(one, await approve(consent, one, 'sub-ben')),
      await subOf(two, await approve(consent, two, 'sub-ben')),
    ];
    expect(new Set(subs).size).toBe(4);
  });

  test('stays the same in a joined grant, after a revocation and after an expiry', async () => {
    const app = await registerApp(consent);
    const first = await approve(consent, app, 'sub-returns');
    const sub = await subOf(app, first);
    expect(await subOf(app, await approve(consent, app, 'sub-returns'))).toBe(sub);
    await revoke(first.grantId, 'sub-returns');
    const second = await approve(consent, app, 'sub-returns');
    expect(second.grantId).not.toBe(first.grantId);
    expect(await subOf(app, second)).toBe(sub);
    await expire(second.grantId);
    const third = await approve(consent, app, 'sub-returns');
    expect(third.grantId).not.toBe(second.grantId);
    expect(await subOf(app, third)).toBe(sub);
  });

  test('is gone after an erasure: who returns gets another one', async () => {
    const app = await registerApp(consent);
    const sub = await subOf(app, await approve(consent, app, 'sub-erased'));
    await consent.asOperator.eraseUser({ userId: 'sub-erased' });
    expect(await list(app, { sub })).toEqual([]);
    expect(await subOf(app, await approve(consent, app, 'sub-erased'))).not.toBe(sub);
  });

  test('is one when a person approves two requests of an app at once, and those of two apps at once', async () => {
    const [one, two] = [await registerApp(consent), await registerApp(consent)];
    const session = await consent.session('sub-at-once');
    const pending = await Promise.all([one, one, two, two].map((app) => openPending(consent, app)));
    const approvals = await Promise.all(
      pending.map((id) => consent.asAuthorization.approve({ id, allRequested: true }, session)),
    );
    const subs = await Promise.all(
      approvals.map((approved, index) => subOf(index < 2 ? one : two, approved)),
    );
    expect([subs[0], subs[2]]).toEqual([subs[1], subs[3]]);
    expect(subs[0]).not.toBe(subs[2]);
  });

  test('finds exactly the grants of that person for that app', async () => {
    const [app, other] = [await registerApp(consent), await registerApp(consent)];
    const old = await approve(consent, app, 'sub-found');
    await revoke(old.grantId, 'sub-found');
    const live = await approve(consent, app, 'sub-found');
    const sub = await subOf(app, live);
    await approve(consent, app, 'sub-not-found');
    await approve(consent, other, 'sub-found');
    expect((await list(app, { sub })).map(({ id }) => id)).toEqual([live.grantId, old.grantId]);
    const active = await list(app, { sub, status: GrantStatus.ACTIVE });
    expect(active.map(({ id }) => id)).toEqual([live.grantId]);
    for (const unknown of [`sub_${'z'.repeat(22)}`, `sub_${'0'.repeat(22)}`, 'sub_', 'sub-found']) {
      expect(await list(app, { sub: unknown })).toEqual([]);
    }
    expect(await list(other, { sub })).toEqual([]);
  });
});

describe('the end of a grant', () => {
  test('is shown to its app with the time and who ended it', async () => {
    const app = await registerApp(consent);
    const [active, person, own, expired, developer] = await Promise.all(
      ['e1', 'e2', 'e3', 'e4', 'e5'].map((userId) =>
        approve(consent, app, userId, { dataFrom: '2026-01-01' }),
      ),
    );
    const byPerson = await revoke(person!.grantId, 'e2');
    const byApp = await end(app, own!.grantId);
    await expire(expired!.grantId);
    expect(await grantOf(app, active!.grantId)).toMatchObject({ endedBy: '', dataFrom: '2026-01-01' });
    expect((await grantOf(app, active!.grantId)).endedAt).toBeUndefined();
    const { clientId } = app;
    const { statusChangedAt } = await consent.ledger.setAppStatus({ clientId, status: AppStatus.REVOKED });
    const { expiresAt } = await grantOf(app, expired!.grantId);
    expect(await grantOf(app, person!.grantId)).toMatchObject({
      endedBy: 'person',
      endedAt: byPerson.revokedAt,
    });
    expect(await grantOf(app, own!.grantId)).toMatchObject({ endedBy: 'app', endedAt: byApp.revokedAt });
    expect(await grantOf(app, expired!.grantId)).toMatchObject({ endedBy: 'expiry', endedAt: expiresAt });
    expect(await grantOf(app, developer!.grantId)).toMatchObject({
      endedBy: 'developer',
      endedAt: statusChangedAt,
    });
  });
});

describe('a grant that its app ends', () => {
  test('yields no data from the answer on, and its person sees who ended it, also on the receipt', async () => {
    const app = await registerApp(consent);
    const grant = await approve(consent, app, 'left');
    expect(await record(consent, accessOf(grant))).toBe(Verdict.RELEASED);
    const { revokedAt } = await end(app, grant.grantId);
    expect(await record(consent, accessOf(grant))).toBe(Verdict.GRANT_REVOKED);
    const session = await consent.session('left');
    const shown = await consent.asGateway.getGrant({ id: grant.grantId }, session);
    expect(shown.grant).toMatchObject({
      status: GrantStatus.REVOKED,
      revokedBy: 'app',
      endedBy: 'app',
      revokedAt,
    });
    const { receipt } = await consent.asGateway.getReceipt({ grantId: grant.grantId }, session);
    expect(decodeJwt(receipt)['events']).toMatchObject([
      { event_state: 'given' },
      {
        event_state: 'ended by the app',
        event_type: 'implicit',
        event_time: new Date(timestampMs(revokedAt!)).toISOString(),
        validity_duration: 'PT0S',
      },
    ]);
  });

  test('keeps its first end, whether the app or the person repeats it', async () => {
    const app = await registerApp(consent);
    const byApp = await approve(consent, app, 'first-app');
    const byPerson = await approve(consent, app, 'first-person');
    const ends = await Promise.all([1, 2, 3].map(() => end(app, byApp.grantId)));
    const { revokedAt } = ends[0]!;
    for (const answer of ends) expect(answer.revokedAt).toEqual(revokedAt);
    expect((await revoke(byApp.grantId, 'first-app')).revokedAt).toEqual(revokedAt);
    expect(await grantOf(app, byApp.grantId)).toMatchObject({ endedBy: 'app' });
    const first = await revoke(byPerson.grantId, 'first-person');
    expect((await end(app, byPerson.grantId)).revokedAt).toEqual(first.revokedAt);
    expect(await grantOf(app, byPerson.grantId)).toMatchObject({ endedBy: 'person' });
  });

  test('has one ender when both end it at the same moment', async () => {
    const app = await registerApp(consent);
    const { grantId } = await approve(consent, app, 'together');
    const [one, two] = await Promise.all([end(app, grantId), revoke(grantId, 'together')]);
    expect(one.revokedAt).toEqual(two.revokedAt);
    const { endedBy, endedAt } = await grantOf(app, grantId);
    expect(['app', 'person']).toContain(endedBy);
    expect(endedAt).toEqual(one.revokedAt);
  });

  test('does not prevent a new approval, which makes another grant', async () => {
    const app = await registerApp(consent);
    const old = await approve(consent, app, 'again-after-app');
    await end(app, old.grantId);
    const fresh = await approve(consent, app, 'again-after-app');
    expect(fresh.grantId).not.toBe(old.grantId);
    expect(await record(consent, accessOf(fresh))).toBe(Verdict.RELEASED);
    expect(await record(consent, accessOf(old))).toBe(Verdict.GRANT_REVOKED);
  });

  test('of another app, or unknown, is not found and changes nothing', async () => {
    const [app, other] = [await registerApp(consent), await registerApp(consent)];
    const { grantId } = await approve(consent, app, 'kept');
    for (const attempt of [end(other, grantId), end(app, newId('grt')), end(app, 'nonsense')]) {
      await expect(attempt).rejects.toMatchObject({ reason: 'not_found' });
    }
    await expect(grantOf(other, grantId)).rejects.toMatchObject({ reason: 'not_found' });
    expect(await grantOf(app, grantId)).toMatchObject({ status: GrantStatus.ACTIVE });
  });
});
