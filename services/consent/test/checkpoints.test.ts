import { describe, expect, test } from '@jest/globals';
import { findCheckpointContent, hashCheckpoint } from '@phds/record-chain/checkpoint';
import { systemClock } from '@phds/service-kit/clock';
import { eventually } from '@phds/test-kit/conditions';
import pg from 'pg';
import { startDatedRecorder } from './dated-recorder.ts';
import {
  accessOf,
  approve,
  type RunningService,
  record,
  registerApp,
  startConsent,
} from './running-service.ts';
import { verifyRecords } from './verify-command.ts';

async function checkpointsOf({ owner, receiptPublicKey }: RunningService) {
  const { rows } = await owner.query(
    'SELECT number, jws FROM consent_audit.access_checkpoint ORDER BY number',
  );
  return rows.map(({ number, jws }) => ({
    number: number as number,
    jws: jws as string,
    content: findCheckpointContent(jws, [receiptPublicKey]),
  }));
}

describe('checkpoints', () => {
  test('sign the position of a chain, each continuing the previous one, and only when a chain has moved', async () => {
    await using consent = await startConsent({ settings: { CHECKPOINT_INTERVAL_MS: '20' } });
    const grant = await approve(consent, await registerApp(consent), 'ada');
    const heads = async () =>
      (
        await consent.owner.query(
          'SELECT DISTINCT ON (writer) writer, seq::int, hash FROM access_batch ORDER BY writer, seq DESC',
        )
      ).rows.map(({ writer, seq, hash }) => ({ writer, seq, hash: hash.toString('base64url') }));
    for (const expected of [1, 2]) {
      await record(consent, accessOf(grant));
      const standing = await heads();
      await eventually(async () =>
        expect((await checkpointsOf(consent)).at(-1)?.content?.heads).toEqual(standing),
      );
      expect((await checkpointsOf(consent)).length).toBe(expected);
    }
    const [first, second] = await checkpointsOf(consent);
    expect(first?.content).toMatchObject({ number: 1, previous: null, keptFrom: null });
    expect(second?.content).toMatchObject({ number: 2, previous: hashCheckpoint(first!.jws) });
    expect(await verifyRecords(consent)).toMatchObject({ ok: true, checkpoints: 2 });
  });

  test('list only the chains that moved since the previous one', async () => {
    await using consent = await startConsent({ settings: { CHECKPOINT_INTERVAL_MS: '20' } });
    await using other = startDatedRecorder(consent.database.url, systemClock);
    const grant = await approve(consent, await registerApp(consent), 'ada');
    const lastHeads = async () => (await checkpointsOf(consent)).at(-1)?.content?.heads;
    await other.recorder.record([accessOf(grant)]);
    await eventually(async () => expect(await lastHeads()).toHaveLength(1));
    const [first] = (await lastHeads()) ?? [];
    await record(consent, accessOf(grant));
    await eventually(async () => expect(await checkpointsOf(consent)).toHaveLength(2));
    const second = (await lastHeads()) ?? [];
    expect(second).toHaveLength(1);
    expect(second[0]?.writer).not.toBe(first?.writer);
    expect(await verifyRecords(consent)).toMatchObject({ ok: true, checkpoints: 2, writers: 2 });
  });

  test('of several instances are made once in an interval, by the first instance', async () => {
    await using consent = await startConsent({ settings: { CHECKPOINT_INTERVAL_MS: '200' } });
    await using _second = await consent.startAnother();
    await using _third = await consent.startAnother();
    const count = async () => {
      const { rows } = await consent.owner.query(
        `SELECT count(*)::int AS taken, count(DISTINCT floor(extract(epoch FROM at) * 5))::int AS intervals
         FROM consent_audit.access_checkpoint`,
      );
      return rows[0] as { taken: number; intervals: number };
    };
    const grant = { clientId: 'app_1', userId: 'ada', grantId: 'grt_1' };
    for (let now = await count(); now.taken < 6; now = await count()) {
      await record(consent, accessOf(grant));
      expect(now.taken).toBe(now.intervals);
    }
  });

  test('of concurrent instances form one sequence over all chains', async () => {
    await using consent = await startConsent({ settings: { CHECKPOINT_INTERVAL_MS: '5' } });
    const others = [await consent.startAnother(), await consent.startAnother()];
    const grant = await approve(consent, await registerApp(consent), 'ada');
    for (let turn = 0; turn < 15; turn += 1) await record(consent, accessOf(grant));
    for (const other of others) await other[Symbol.asyncDispose]();
    const numbers = (await checkpointsOf(consent)).map((checkpoint) => checkpoint.number);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    expect(await verifyRecords(consent)).toMatchObject({ ok: true });
  });

  test('never confirm a drop that policy does not allow, whatever the database contains', async () => {
    await using consent = await startConsent({ settings: { CHECKPOINT_INTERVAL_MS: '20' } });
    const grant = await approve(consent, await registerApp(consent), 'ada');
    for (const expected of [1, 2, 3]) {
      await record(consent, accessOf(grant));
      await eventually(async () => expect(await checkpointsOf(consent)).toHaveLength(expected));
    }
    const admin = new pg.Client({
      connectionString: consent.database.adminUrl,
      options: '-c search_path=consent',
    });
    await admin.connect();
    await admin.query('SET session_replication_role = replica');
    await admin.query(
      `INSERT INTO consent_audit.access_dropped SELECT writer, seq, at, hash, now() FROM access_batch WHERE seq = 1`,
    );
    await admin.query('DELETE FROM access_record WHERE seq <= 1');
    await admin.query('DELETE FROM access_batch WHERE seq <= 1');
    await admin.end();
    await record(consent, accessOf(grant));
    await eventually(async () => expect(await checkpointsOf(consent)).toHaveLength(4));
    expect(await verifyRecords(consent)).toMatchObject({
      fault: { kind: 'removed', subject: 'batch', seq: 1 },
    });
  });

  test('can be added by the service and changed by nobody', async () => {
    await using consent = await startConsent();
    const grant = await approve(consent, await registerApp(consent), 'ada');
    await record(consent, accessOf(grant));
    await consent.service[Symbol.asyncDispose]();
    expect(await checkpointsOf(consent)).toHaveLength(1);
    const runtime = new pg.Client({ connectionString: consent.database.url });
    await runtime.connect();
    for (const statement of [
      `UPDATE consent_audit.access_checkpoint SET jws = ''`,
      'DELETE FROM consent_audit.access_checkpoint',
      'TRUNCATE consent_audit.access_dropped',
      `INSERT INTO consent_audit.access_dropped SELECT writer, seq, at, hash, at FROM consent.access_batch`,
    ]) {
      await expect(runtime.query(statement)).rejects.toThrow(/permission denied/);
    }
    await runtime.end();
  });
});
