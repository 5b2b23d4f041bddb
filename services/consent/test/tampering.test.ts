import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { hashBatch } from '@phds/record-chain/chain';
import type pg from 'pg';
import { connectAsSuperuser } from './database-clients.ts';
import { type DatedRecords, startDatedRecords } from './dated-checkpoints.ts';
import {
  accessOf,
  approve,
  MOOD,
  type RunningService,
  registerApp,
  startConsent,
} from './running-service.ts';
import { phdsRecords, verifyRecords } from './verify-command.ts';

// Checkpoints are signed at the end only, so that a test knows what is signed.
const SETTINGS = { CHECKPOINT_INTERVAL_MS: '3600000' };
const CALLS = 4;
const RECORDS_A_CALL = 5;

let consent: RunningService;
let admin: pg.Client;
let batches: { writer: string; seq: string; previous_hash: Buffer; digests: Buffer; hash: Buffer }[];
let records: { id: string; writer: string; seq: string; ordinal: number }[];

/** The history of a cleanly stopped service: signed to its end. */
beforeAll(async () => {
  consent = await startConsent({ settings: SETTINGS });
  const grant = await approve(consent, await registerApp(consent), 'ada');
  for (let call = 0; call < CALLS; call += 1) {
    const accesses = Array.from({ length: RECORDS_A_CALL }, () => accessOf(grant));
    accesses[2] = { ...accessOf(grant), scope: MOOD };
    await consent.records.recordAccess({ accesses });
  }
  await consent.service[Symbol.asyncDispose]();
  admin = await connectAsSuperuser(consent.database);
  batches = (await admin.query('SELECT * FROM access_batch ORDER BY seq')).rows;
  records = (await admin.query('SELECT * FROM access_record ORDER BY id')).rows;
});

afterAll(async () => {
  await admin.end();
  await consent[Symbol.asyncDispose]();
});

/** Runs statements, verifies, and restores the previous state. */
async function verifyAfter(...statements: [sql: string, ...values: unknown[]][]) {
  for (const table of ['access_batch', 'access_record']) {
    await admin.query(`CREATE TEMP TABLE kept_${table} AS SELECT * FROM ${table}`);
  }
  try {
    for (const [sql, ...values] of statements) await admin.query(sql, values);
    return await verifyRecords(consent);
  } finally {
    for (const table of ['access_batch', 'access_record']) {
      await admin.query(`DELETE FROM ${table}`);
      await admin.query(`INSERT INTO ${table} SELECT * FROM kept_${table}`);
      await admin.query(`DROP TABLE kept_${table}`);
    }
  }
}

const placeOf = (index: number) => {
  const { writer, seq, ordinal } = records[index]!;
  return { writer, seq: Number(seq), ordinal };
};

test('untouched records verify, including those of refusals', async () => {
  expect(await verifyRecords(consent)).toMatchObject({
    ok: true,
    records: CALLS * (RECORDS_A_CALL + 1),
    batches: batches.length,
    writers: 1,
    checkpoints: 1,
    fault: null,
  });
  const { code, stdout } = await phdsRecords(consent, ['verify']);
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /24 records in \d+ batches of 1 writers, 1 checkpoints; .*\nNothing was changed\.\n$/s,
  );
});

describe('the command names', () => {
  test('a record with one flipped bit', async () => {
    const { id } = records[7]!;
    const flipped = `UPDATE access_record SET endpoint = overlay(endpoint PLACING 'b' FROM 5 FOR 1) WHERE id = $1`;
    expect(await verifyAfter([flipped, id])).toMatchObject({
      ok: false,
      fault: { kind: 'changed', subject: 'record', recordId: id, ...placeOf(7) },
    });
  });

  test('a refusal that was changed, or turned into the record of another access', async () => {
    const { rows } = await admin.query(
      'SELECT id, writer, seq, ordinal FROM access_record WHERE verdict IS NOT NULL',
    );
    const { id } = rows[0];
    for (const change of [`verdict = 'token_expired'`, 'verdict = NULL, refers_to = NULL']) {
      expect(await verifyAfter([`UPDATE access_record SET ${change} WHERE id = $1`, id])).toMatchObject({
        fault: { kind: 'changed', recordId: id },
      });
    }
  });

  test('the place of a deleted record', async () => {
    expect(await verifyAfter(['DELETE FROM access_record WHERE id = $1', records[9]!.id])).toMatchObject({
      fault: { kind: 'removed', subject: 'record', recordId: null, ...placeOf(9) },
    });
  });

  test('one of two swapped records', async () => {
    const [one, two] = [records[0]!, records[1]!];
    expect(two).toMatchObject({ writer: one.writer, seq: one.seq });
    const swapped = `UPDATE access_record SET ordinal = CASE id WHEN $1 THEN $2::int ELSE $3::int END WHERE id IN ($1, $4)`;
    const { fault } = await verifyAfter([swapped, one.id, two.ordinal, one.ordinal, two.id]);
    expect(fault).toMatchObject({ kind: 'moved', subject: 'record' });
    expect([one.id, two.id]).toContain(fault?.recordId);
  });

  test('an added record', async () => {
    const added = `INSERT INTO access_record SELECT (left(id::text, -1) || 'f')::uuid, writer, seq, ordinal + 100, at, user_ref,
      client_id, grant_id, scope, endpoint, window_from, window_to, page, record_count, request_id, refers_to, verdict
      FROM access_record WHERE id = $1`;
    const { id } = records.find((record) => !record.id.endsWith('f'))!;
    expect(await verifyAfter([added, id])).toMatchObject({
      fault: { kind: 'added', recordId: `${id.slice(0, -1)}f` },
    });
  });

  test('the first batch of a truncated tail, which the chain itself does not show', async () => {
    const { writer, seq } = batches.at(-2)!;
    expect(
      await verifyAfter(
        ['DELETE FROM access_record WHERE seq >= $1', seq],
        ['DELETE FROM access_batch WHERE seq >= $1', seq],
      ),
    ).toMatchObject({ fault: { kind: 'removed', subject: 'batch', writer, seq: Number(seq) } });
  });

  test('a forged batch: one that does not fit, and one after which the whole chain was rewritten', async () => {
    const last = batches.at(-1)!;
    const added = `INSERT INTO access_batch SELECT writer, seq + 1, at, 0, '', $1, $2, recorded_at FROM access_batch WHERE seq = $3`;
    expect(await verifyAfter([added, last.hash, last.hash, last.seq])).toMatchObject({
      fault: { kind: 'changed', subject: 'batch', writer: last.writer, seq: Number(last.seq) + 1 },
    });
    const anew: [string, ...unknown[]][] = [['DELETE FROM access_record WHERE seq = 1']];
    let previous = batches[0]!.hash;
    for (const batch of batches.slice(1)) {
      const digests = batch.seq === '1' ? Buffer.alloc(0) : batch.digests;
      const hash = hashBatch(previous, Number(batch.seq), digests);
      anew.push([
        `UPDATE access_batch SET digests = $1, record_count = length($1::bytea) / 32, previous_hash = $2, hash = $3 WHERE seq = $4`,
        digests,
        previous,
        hash,
        batch.seq,
      ]);
      previous = hash;
    }
    expect(await verifyAfter(...anew)).toMatchObject({
      fault: { kind: 'changed', subject: 'batch', writer: last.writer, seq: Number(last.seq) },
    });
  });
});

test('the command reports when it cannot read the records, instead of calling them verified', async () => {
  const elsewhere = {
    ...consent,
    database: { ...consent.database, url: 'postgres://nobody@127.0.0.1:1/phds' },
  };
  const { code, stderr } = await phdsRecords(elsewhere, ['verify']);
  expect({ code, stderr }).toEqual({ code: 3, stderr: 'The database does not answer.\n' });
});

describe('a part of the history', () => {
  const MARCH = '2024-03';

  let records: DatedRecords;

  /** A chain for each month, signed in it; the checkpoint of March is not a base. */
  beforeEach(async () => {
    records = await startDatedRecords('2024-02-10T12:00:00Z');
    for (const month of ['2024-02', MARCH, '2024-04']) {
      records.clock.set(`${month}-10T12:00:00Z`);
      await records.record(month);
      await records.checkpoints.take();
    }
  });
  afterEach(async () => {
    await records[Symbol.asyncDispose]();
  });

  const change = (sql: string) => records.admin.query(sql);
  const inMarch = `at >= '2024-03-01' AND at < '2024-04-01'`;
  const verifyMarch = () => verifyRecords(records, { range: { month: MARCH } });
  const deleteRecords = () => change(`DELETE FROM access_record WHERE ${inMarch}`);
  const deleteBatches = () => change(`DELETE FROM access_batch WHERE ${inMarch}`);

  test('the verification of a part does not say that nothing was changed', async () => {
    for (const part of [
      ['--month', MARCH],
      ['--from-checkpoint', '2'],
    ]) {
      const { code, stdout } = await phdsRecords(records, ['verify', ...part]);
      expect(code).toBe(0);
      expect(stdout).toMatch(
        /\nThe part that was read is consistent\. Only a verification of everything shows that nothing is missing before and after\.\n$/,
      );
    }
  });

  test.each(['1970-01-01', '2030-01-01'])(
    'batches that were dated %s and lost their records are named',
    async (at) => {
      await deleteRecords();
      await change(`UPDATE access_batch SET at = '${at}' WHERE ${inMarch}`);
      expect(await verifyMarch()).toMatchObject({ fault: { kind: 'moved', subject: 'batch', seq: 1 } });
    },
  );

  test('the checkpoints of a month are found by their signed time', async () => {
    await deleteRecords();
    await deleteBatches();
    await change(`UPDATE consent_audit.access_checkpoint SET at = '1970-01-01'`);
    expect(await verifyMarch()).toMatchObject({ fault: { kind: 'removed', subject: 'batch', seq: 0 } });
  });

  test('a month whose checkpoints were removed does not verify', async () => {
    await deleteRecords();
    await deleteBatches();
    await change('DELETE FROM consent_audit.access_checkpoint WHERE number < 3');
    expect(await verifyMarch()).toMatchObject({
      fault: { kind: 'removed', subject: 'checkpoint', detail: 'checkpoint 1 is gone' },
    });
  });

  test('batches that the database alone calls dropped are named', async () => {
    await change(
      `INSERT INTO consent_audit.access_dropped (writer, seq, at, hash, kept_from)
     SELECT writer, seq, '1970-01-01', hash, '1970-02-01' FROM access_batch WHERE ${inMarch} AND seq = 1`,
    );
    await deleteRecords();
    await deleteBatches();
    expect(await verifyMarch()).toMatchObject({ fault: { kind: 'removed', subject: 'batch' } });
  });

  test('each month verifies by itself, with chains that span months, and names what is missing', async () => {
    await using records = await startDatedRecords('2024-02-10T12:00:00Z');
    for (const time of ['2024-02-10', '2024-02-28', '2024-03-10', '2024-04-10']) {
      records.clock.set(`${time}T12:00:00Z`);
      await records.record('spanning');
      if (time !== '2024-03-10') await records.record(time);
      await records.checkpoints.take();
    }
    const verify = (month: string) => verifyRecords(records, { range: { month } });
    for (const [month, written] of [
      ['2024-02', 8],
      ['2024-03', 2],
      ['2024-04', 4],
    ] as const) {
      // Each access is refused, which is a record of its own.
      expect(await verify(month)).toMatchObject({ ok: true, records: written, fault: null });
    }
    for (const table of ['access_record', 'access_batch']) {
      await records.admin.query(`DELETE FROM ${table} WHERE at >= '2024-03-01' AND at < '2024-04-01'`);
    }
    expect(await verify('2024-03')).toMatchObject({ fault: { kind: 'removed', subject: 'batch' } });
    // April's part of the chain does not continue the one before it either.
    expect(await verify('2024-04')).toMatchObject({ fault: { kind: 'removed', subject: 'batch', seq: 4 } });
  });
});
