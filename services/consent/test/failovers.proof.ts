import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Verdict } from '@phds/contracts/phds/consent/v1/access_pb';
import { Deadline, withinDeadline } from '@phds/service-kit/current-work';
import { startRestoreGuard } from '@phds/service-kit/restore/guard';
import { createLogger } from '@phds/service-kit/telemetry/log';
import { RESTORE_SCHEMA } from '../src/store/connection-pools.ts';
import { connectAsSuperuser } from './database-clients.ts';
import {
  accessOf,
  approve,
  type RegisteredApp,
  type RunningService,
  record,
  registerApp,
  startConsent,
} from './running-service.ts';
import { verifyRecords } from './verify-command.ts';

/** Found by what the service does, not by its periodic checks. */
const NO_CHECKS = { RESTORE_CHECK_INTERVAL_MS: 3_600_000 };

type Grant = Awaited<ReturnType<typeof approve>>;

let consent: RunningService;
let app: RegisteredApp;

beforeEach(async () => {
  // Long, because suspension must not depend on the periodic check.
  consent = await startConsent({ constants: NO_CHECKS });
  app = await registerApp(consent);
});
afterEach(() => consent[Symbol.asyncDispose]());

const checkLiveness = ({ grantId }: Grant) =>
  consent.checkLiveness({ clientId: app.clientId, appEpoch: app.epoch, grantId });

describe('a database that was restored under a running service', () => {
  let before: Grant;

  beforeEach(async () => {
    before = await approve(consent, app, 'before');
    // Like a snapshot of the disk from before the approval: the same cluster, timeline and tables.
    await consent.owner.query('UPDATE consent_audit.instance SET position = 0');
  });

  test('acknowledges a change only once the restore is recorded', async () => {
    const anew = await approve(consent, app, 'after');
    expect(await record(consent, accessOf(anew))).toBe(Verdict.RELEASED);
    expect(await record(consent, accessOf(before))).toBe(Verdict.RESTORE_UNCONFIRMED);
  });

  test('is detected when the first call is a revocation whose row is missing', async () => {
    await consent.owner.query('DELETE FROM consent_audit.instance');
    await consent.as('before').revokeGrant({ id: before.grantId });
    expect(await consent.restores.getRestoreStatus({})).toMatchObject({ latest: { number: 2 } });
  });
});

describe('a replacement database with every acknowledged change', () => {
  let before: Grant;
  let revoked: Grant;

  beforeEach(async () => {
    before = await approve(consent, app, 'before');
    revoked = await approve(consent, app, 'revoked');
    await consent.as('revoked').revokeGrant({ id: revoked.grantId });
  });

  test('gets records that verify, although it lacks the last records of before', async () => {
    for (const _ of [1, 2]) expect(await record(consent, accessOf(before))).toBe(Verdict.RELEASED);
    await renameDatabase();
    await loseLastRecord();
    await checkLiveness(before);
    expect(await record(consent, accessOf(before))).toBe(Verdict.RELEASED);
    expect(await verifyRecords(consent)).toMatchObject({ ok: true, records: 2, writers: 2 });
  });

  test('releases nothing while another instance has not confirmed it, and everything afterwards', async () => {
    const constants = { ...NO_CHECKS, FAILOVER_GRACE_MS: 3_600_000 };
    await using patient = await startConsent({ constants });
    const other = await patient.startAnother();
    const patientApp = await registerApp(patient);
    const grant = await approve(patient, patientApp, 'patient');
    await renameDatabase(patient);
    await expect(record(patient, accessOf(grant))).rejects.toMatchObject({ reason: 'access_not_recorded' });
    // A clean stop records that it acknowledges nothing more; the new database contains that.
    await other[Symbol.asyncDispose]();
    expect(await record(patient, accessOf(grant))).toBe(Verdict.RELEASED);
  });

  test('is treated as restored if an instance that could tell does not return', async () => {
    await consent.owner.query(
      'INSERT INTO consent_audit.instance (id, position) VALUES (gen_random_uuid(), 1)',
    );
    await renameDatabase();
    await expect(record(consent, accessOf(before))).rejects.toMatchObject({ reason: 'access_not_recorded' });
    expect(await record(consent, accessOf(before))).toBe(Verdict.RESTORE_UNCONFIRMED);
  });

  test('is treated as restored by an instance whose own row is missing', async () => {
    await renameDatabase();
    await consent.owner.query('UPDATE consent_audit.instance SET position = 0');
    expect(await record(consent, accessOf(before))).toBe(Verdict.RESTORE_UNCONFIRMED);
  });
});

describe('an instance that was cut off from its database', () => {
  const age = (days: number) =>
    consent.owner.query(
      `UPDATE consent_audit.instance SET ended = true, seen_at = statement_timestamp() - make_interval(days => $1)`,
      [days],
    );
  const countInstances = async () =>
    (await consent.owner.query('SELECT FROM consent_audit.instance')).rowCount;

  test('suspends nothing when it returns after two days, although others considered it ended', async () => {
    const grant = await approve(consent, app, 'before');
    await age(2);
    await using _other = await consent.startAnother();
    expect(await record(consent, accessOf(grant))).toBe(Verdict.RELEASED);
    await approve(consent, app, 'after');
    expect((await consent.restores.getRestoreStatus({})).latest).toBeUndefined();
  });

  test('is forgotten after a year, or after a day if it stopped cleanly', async () => {
    const stopped = await consent.startAnother();
    await stopped[Symbol.asyncDispose]();
    await age(2);
    await using _second = await consent.startAnother();
    // The silent one and the new one.
    expect(await countInstances()).toBe(2);
    await age(367);
    await using _third = await consent.startAnother();
    expect(await countInstances()).toBe(1);
  });
});

test('an unsettled check continues no longer than its caller waits', async () => {
  const config = { ...NO_CHECKS, FAILOVER_GRACE_MS: 3_600_000 };
  const log = createLogger({ service: 'consent', level: 'silent' });
  const pool = consent.owner;
  const onFailure = () => undefined;
  await using guard = await startRestoreGuard({ pool, schema: RESTORE_SCHEMA, config, log, onFailure });
  // The running service has not confirmed.
  await renameDatabase();
  const deadline = new Deadline(60_000);
  const settled = withinDeadline(deadline, () => guard.untilDecided());
  deadline.end();
  await expect(settled).rejects.toMatchObject({ code: 'ETIMEDOUT' });
});

describe('a restore guard whose database is away for a while', () => {
  test('reports a possible loss at the first failed check and the first successful one of each outage, and no other', async () => {
    const config = { ...NO_CHECKS, FAILOVER_GRACE_MS: 1 };
    const log = createLogger({ service: 'consent', level: 'silent' });
    let isAway = false;
    let losses = 0;
    const pool = new Proxy(consent.owner, {
      get: (target, name) =>
        name === 'connect' && isAway
          ? () => Promise.reject(new Error('away'))
          : Reflect.get(target, name, target),
    });
    const onPossibleLoss = () => {
      losses += 1;
    };
    const options = { pool, schema: RESTORE_SCHEMA, config, log, onFailure: () => undefined, onPossibleLoss };
    await using guard = await startRestoreGuard(options);
    for (const outage of [1, 2]) {
      await guard.check();
      expect(losses).toBe(2 * outage - 2);
      isAway = true;
      for (const _ of [1, 2, 3]) {
        await expect(guard.check()).rejects.toThrow('away');
        expect(losses).toBe(2 * outage - 1);
      }
      isAway = false;
      for (const _ of [1, 2, 3]) {
        await guard.check();
        expect(losses).toBe(2 * outage);
      }
    }
  });
});

/** As if the database had been restored to the moment before it. */
async function loseLastRecord(): Promise<void> {
  const admin = await connectAsSuperuser(consent.database);
  await admin.query(
    'DELETE FROM consent.access_record WHERE seq = (SELECT max(seq) FROM consent.access_batch)',
  );
  await admin.query(
    'DELETE FROM consent.access_batch WHERE seq = (SELECT max(seq) FROM consent.access_batch)',
  );
  await admin.end();
}

/** As after a promotion: the recorded identity is that of another database. */
async function renameDatabase({ database } = consent): Promise<void> {
  const admin = await connectAsSuperuser(database);
  await admin.query(`UPDATE consent_audit.restore SET identity = 'another'`);
  await admin.end();
}
