import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { RestoreKind } from '@phds/contracts/phds/common/v1/restore_pb';
import { Verdict } from '@phds/contracts/phds/consent/v1/access_pb';
import { GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { restoreCopy } from './restored-copy.ts';
import {
  accessOf,
  approve,
  GLUCOSE,
  HEART,
  MOOD,
  openPending,
  type RegisteredApp,
  type RunningService,
  record,
  registerApp,
  startConsent,
} from './running-service.ts';

type Grant = Awaited<ReturnType<typeof approve>>;

let consent: RunningService;
let app: RegisteredApp;

beforeEach(async () => {
  // Long, because suspension must not depend on the periodic check.
  consent = await startConsent({ constants: { RESTORE_CHECK_INTERVAL_MS: 3_600_000 } });
  app = await registerApp(consent);
});
afterEach(() => consent[Symbol.asyncDispose]());

function checkLiveness(grant: { grantId: string }, issuedAt: Date | null = null) {
  return consent.checkLiveness({
    clientId: app.clientId,
    appEpoch: app.epoch,
    grantId: grant.grantId,
    ...(issuedAt === null ? {} : { issuedAt: timestampFromDate(issuedAt) }),
  });
}

const anHourAgo = () => new Date(Date.now() - 3_600_000);
const inAnHour = () => new Date(Date.now() + 3_600_000);
const USERLESS = { grantId: '' };

describe('a declared restore', () => {
  let old: Grant;
  let number: number;

  beforeEach(async () => {
    old = await approve(consent, app, 'old');
    expect(await record(consent, accessOf(old))).toBe(Verdict.RELEASED);
    const { restore } = await consent.restores.declareRestore({});
    number = restore?.number ?? 0;
  });

  test('suspends earlier grants and tokens of apps, for every caller', async () => {
    expect(await record(consent, accessOf(old))).toBe(Verdict.RESTORE_UNCONFIRMED);
    expect((await checkLiveness(old)).grant?.status).toBe(GrantStatus.REVOKED);
    expect((await checkLiveness(USERLESS, anHourAgo())).tokenAlive).toBe(false);
    expect((await checkLiveness(USERLESS, inAnHour())).tokenAlive).toBe(true);
    expect(await consent.restores.getRestoreStatus({})).toMatchObject({
      latest: { number, kind: RestoreKind.DECLARED },
      suspended: 1,
    });
  });

  test('gives the person the reason in the record of the refusal', async () => {
    await record(consent, accessOf(old));
    const { accesses } = await consent.as('old').listAccesses({});
    expect(accesses.map(({ verdict }) => verdict)).toEqual([Verdict.RESTORE_UNCONFIRMED, Verdict.RELEASED]);
  });

  test('does not affect later approvals, which join nothing from before', async () => {
    const anew = await approve(consent, app, 'old', { requested: [MOOD] });
    expect(anew.grantId).not.toBe(old.grantId);
    expect(await record(consent, { ...accessOf(anew), scope: MOOD })).toBe(Verdict.RELEASED);
    expect(await record(consent, accessOf(anew))).toBe(Verdict.SCOPE_WITHDRAWN);
    expect((await checkLiveness(anew)).grant).toMatchObject({ status: GrantStatus.ACTIVE, scopes: [MOOD] });

    // The person's decision takes precedence over a later confirmation.
    await consent.restores.confirmRestore({ number });
    expect(await record(consent, accessOf(old))).not.toBe(Verdict.RELEASED);
    expect(await record(consent, { ...accessOf(anew), scope: MOOD })).toBe(Verdict.RELEASED);
  });

  test('is not shown as existing sharing on the approval screen', async () => {
    const id = await openPending(consent, app, [HEART, GLUCOSE]);
    const { pendingApproval } = await consent.as('old').getPendingApproval({ id });
    expect(pendingApproval?.requestedScopes.map((scope) => scope.alreadyShared)).toEqual([false, false]);
  });

  test('allows revoking suspended grants, which then stay revoked', async () => {
    await consent.as('old').revokeGrant({ id: old.grantId });
    await consent.restores.confirmRestore({ number });
    expect(await record(consent, accessOf(old))).toBe(Verdict.GRANT_REVOKED);
  });

  test('ends for one app or one person alone, and a later restore suspends them again', async () => {
    const other = await registerApp(consent);
    const others = await approve(consent, other, 'other');
    await consent.restores.declareRestore({});
    const { latest } = await consent.restores.getRestoreStatus({});
    const listed = await consent.restores.listSuspended({});
    expect([listed.total, listed.items.map(({ grantId }) => grantId)]).toEqual([
      2,
      [others.grantId, old.grantId],
    ]);
    const confirm = (part: object, of = latest?.number) =>
      consent.restores.confirmPart({ number: of ?? 0, ...part });
    await expect(confirm({ userId: 'old' }, number)).rejects.toThrow('Not found');
    await expect(confirm({})).rejects.toThrow('clientId');

    expect(await confirm({ userId: 'old' })).toMatchObject({ confirmed: 1 });
    expect(await confirm({ userId: 'old' })).toMatchObject({ confirmed: 0 });
    expect(await record(consent, accessOf(old))).toBe(Verdict.RELEASED);
    expect(await record(consent, accessOf(others))).toBe(Verdict.RESTORE_UNCONFIRMED);
    expect((await checkLiveness(USERLESS, anHourAgo())).tokenAlive).toBe(false);
    expect((await consent.restores.listSuspended({ clientId: other.clientId })).total).toBe(1);

    await confirm({ clientId: other.clientId });
    expect(await record(consent, accessOf(others))).toBe(Verdict.RELEASED);
    expect((await consent.restores.listSuspended({})).total).toBe(0);
    await consent.restores.declareRestore({});
    expect(await record(consent, accessOf(old))).toBe(Verdict.RESTORE_UNCONFIRMED);
  });

  test('ends with the confirmation, which may be repeated', async () => {
    const first = await consent.restores.confirmRestore({ number });
    expect(first.restore?.confirmedAt).toBeDefined();
    expect(await consent.restores.confirmRestore({ number })).toEqual(first);
    expect(await record(consent, accessOf(old))).toBe(Verdict.RELEASED);
    expect((await checkLiveness(old)).grant?.status).toBe(GrantStatus.ACTIVE);
    expect((await checkLiveness(USERLESS, anHourAgo())).tokenAlive).toBe(true);
    expect((await consent.restores.getRestoreStatus({})).suspended).toBe(0);
  });

  test('is not confirmed by confirming an earlier one, but by confirming a later one', async () => {
    const { restore: later } = await consent.restores.declareRestore({});
    await consent.restores.confirmRestore({ number });
    expect(await record(consent, accessOf(old))).toBe(Verdict.RESTORE_UNCONFIRMED);
    await consent.restores.confirmRestore({ number: later?.number ?? 0 });
    expect(await record(consent, accessOf(old))).toBe(Verdict.RELEASED);
  });

  test('can be confirmed only if it exists', async () => {
    await expect(consent.restores.confirmRestore({ number: number + 1 })).rejects.toMatchObject({
      reason: 'not_found',
    });
    // The entry of the first start is not a restore.
    await expect(consent.restores.confirmRestore({ number: 1 })).rejects.toMatchObject({
      reason: 'not_found',
    });
  });
});

describe('a database that was restored from a dump', () => {
  let revoked: Grant;
  let kept: Grant;
  let restored: RunningService;

  beforeEach(async () => {
    revoked = await approve(consent, app, 'revoked');
    kept = await approve(consent, app, 'kept');
    const copy = await restoreCopy(consent.owner);
    // Revoked after the backup, so the backup does not contain it.
    await consent.as('revoked').revokeGrant({ id: revoked.grantId });
    restored = await startConsent({ database: copy });
  });
  afterEach(() => restored[Symbol.asyncDispose]());

  test('starts with everything in it suspended, and nothing else', async () => {
    expect(await record(restored, accessOf(revoked))).toBe(Verdict.RESTORE_UNCONFIRMED);
    expect(await record(restored, accessOf(kept))).toBe(Verdict.RESTORE_UNCONFIRMED);
    const anew = await approve(restored, app, 'new');
    expect(await record(restored, accessOf(anew))).toBe(Verdict.RELEASED);
    expect(await restored.restores.getRestoreStatus({})).toMatchObject({
      latest: { number: 2, kind: RestoreKind.DETECTED },
      suspended: 2,
    });
    // The original database is unchanged.
    expect(await record(consent, accessOf(kept))).toBe(Verdict.RELEASED);
  });

  test('is trusted once it is confirmed', async () => {
    // As the command does. Before this call, nobody has detected the restore.
    await restored.restores.getRestoreStatus({});
    await restored.restores.confirmRestore({ number: 2 });
    expect(await record(restored, accessOf(kept))).toBe(Verdict.RELEASED);
  });
});

describe('a database that was replaced under a running service', () => {
  beforeEach(async () => {
    await approve(consent, app, 'before');
    // As if the recorded identity were that of another database.
    await consent.owner.query(
      `INSERT INTO consent_audit.restore (number, kind, identity) VALUES (2, 'detected', 'another')`,
    );
    await consent.owner.query('INSERT INTO consent_audit.restore_confirmation (number) VALUES (2)');
  });

  test('is detected once, however many instances check', async () => {
    const others = await Promise.all([consent.startAnother(), consent.startAnother()]);
    const { latest } = await consent.restores.getRestoreStatus({});
    expect(latest).toMatchObject({ number: 3, kind: RestoreKind.DETECTED });
    const anew = await approve(consent, app, 'after');
    expect(await record(consent, accessOf(anew))).toBe(Verdict.RELEASED);
    for (const other of others) await other[Symbol.asyncDispose]();
  });
});
