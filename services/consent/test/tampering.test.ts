import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { verifyRecords as runVerify } from '@phds/cli/commands/records-verify';
import type { RangeChoice } from '@phds/cli/records/chain-source';
import { shared } from '@phds/test-kit/shared';
import type pg from 'pg';
import { connectAsSuperuser } from './database-clients.ts';
import { type DatedRecords, startDatedRecords } from './dated-checkpoints.ts';
import { accessOf, approve, MOOD, registerApp, shareConsent } from './running-service.ts';
import { phdsRecords, runRecords, verifyRecords } from './verify-command.ts';

// Checkpoints are signed at the end only, so that a test knows what is signed.
const SETTINGS = { CHECKPOINT_INTERVAL_MS: '3600000' };
const CALLS = 4;
const RECORDS_A_CALL = 5;

/** The history of a cleanly stopped service: signed to its end. */
const consent = await shareConsent({ settings: SETTINGS });
const grant = await approve(consent, await registerApp(consent), 'ada');
for (let call = 0; call < CALLS; call += 1) {
  const accesses = Array.from({ length: RECORDS_A_CALL }, () => accessOf(grant));
  accesses[2] = { ...accessOf(grant), scope: MOOD };
  await consent.records.recordAccess({ accesses });
}
await consent.service[Symbol.asyncDispose]();
const admin = await connectAsSuperuser(consent.database);
const records: { id: string; writer: string; seq: string; ordinal: number }[] = (
  await admin.query('SELECT * FROM access_record ORDER BY id')
).rows;
shared.defer(() => admin.end());

const TABLES = [
  'access_batch',
  'access_record',
  'consent_audit.access_checkpoint',
  'consent_audit.access_dropped',
];

type Statement = [sql: string, ...values: unknown[]];

/** Runs statements, calls `check`, and restores the previous state. */
async function changed<T>(database: pg.Client, statements: readonly Statement[], check: () => Promise<T>) {
  for (const [index, table] of TABLES.entries())
    await database.query(`CREATE TEMP TABLE kept_${index} AS SELECT * FROM ${table}`);
  try {
    for (const [sql, ...values] of statements) await database.query(sql, values);
    return await check();
  } finally {
    for (const [index, table] of TABLES.entries()) {
      await database.query(`DELETE FROM ${table}`);
      await database.query(`INSERT INTO ${table} SELECT * FROM kept_${index}`);
      await database.query(`DROP TABLE kept_${index}`);
    }
  }
}

test('untouched records verify, including those of refusals', async () => {
  expect(await verifyRecords(consent)).toMatchObject({
    ok: true,
    records: CALLS * (RECORDS_A_CALL + 1),
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

test('the command names a record with one flipped bit', async () => {
  const { id, writer, seq, ordinal } = records[7]!;
  const flipped = `UPDATE access_record SET endpoint = overlay(endpoint PLACING 'b' FROM 5 FOR 1) WHERE id = $1`;
  expect(await changed(admin, [[flipped, id]], () => verifyRecords(consent))).toMatchObject({
    ok: false,
    fault: { kind: 'changed', subject: 'record', recordId: id, writer, seq: Number(seq), ordinal },
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
  beforeAll(async () => {
    records = await startDatedRecords('2024-02-10T12:00:00Z');
    for (const month of ['2024-02', MARCH, '2024-04']) {
      records.clock.set(`${month}-10T12:00:00Z`);
      await records.record(month);
      await records.checkpoints.take();
    }
  });
  afterAll(async () => records[Symbol.asyncDispose]());

  const inMarch = `at >= '2024-03-01' AND at < '2024-04-01'`;
  const deleteRecords = `DELETE FROM access_record WHERE ${inMarch}`;
  const deleteBatches = `DELETE FROM access_batch WHERE ${inMarch}`;
  const verifyMarchAfter = (...statements: string[]) =>
    changed(
      records.admin,
      statements.map((sql) => [sql]),
      () => verifyRecords(records, { range: { month: MARCH } }),
    );

  const from = new Date('2024-03-05T00:00:00Z');
  const to = new Date('2024-03-20T00:00:00Z');

  test('the part between two times is read alone, and named', async () => {
    const read = async (range: RangeChoice) => (await verifyRecords(records, { range })).records;
    const all = await read(null);
    expect([
      await read({ from, to }),
      await read({ from, to: null }),
      await read({ from: null, to }),
    ]).toEqual([all / 3, (2 * all) / 3, (2 * all) / 3]);
    expect(await read({ from: to, to: new Date('2024-03-21T00:00:00Z') })).toBe(0);
    const { stdout } = await phdsRecords(records, ['verify', '--from', '2024-03-05', '--to', '2024-03-20']);
    expect(stdout).toContain('\nPart: from 2024-03-05T00:00:00.000Z, to 2024-03-20T00:00:00.000Z.\n');
  });

  test('a removal between two times is named', async () => {
    const removed = await changed(records.admin, [[deleteRecords], [deleteBatches]], () =>
      verifyRecords(records, { range: { from, to } }),
    );
    expect(removed).toMatchObject({ ok: false, fault: { kind: 'removed', subject: 'batch' } });
  });

  test.each([{ month: MARCH }, { fromCheckpoint: 2 }, { from, to }])(
    'the verification of the part %j does not say that nothing was changed',
    async (range) => {
      const { code, stdout } = await runRecords(records, (parts) =>
        runVerify({ json: false, range, expect: null }, parts),
      );
      expect(code).toBe(0);
      expect(stdout).toMatch(
        /\nThe part that was read is consistent\. Only a verification of everything shows that nothing is missing before and after\.\n$/,
      );
    },
  );

  test.each(['1970-01-01', '2030-01-01'])(
    'batches that were dated %s and lost their records are named',
    async (at) => {
      const redate = `UPDATE access_batch SET at = '${at}' WHERE ${inMarch}`;
      expect(await verifyMarchAfter(deleteRecords, redate)).toMatchObject({
        fault: { kind: 'moved', subject: 'batch', seq: 1 },
      });
    },
  );

  test('the checkpoints of a month are found by their signed time', async () => {
    const redate = `UPDATE consent_audit.access_checkpoint SET at = '1970-01-01'`;
    expect(await verifyMarchAfter(deleteRecords, deleteBatches, redate)).toMatchObject({
      fault: { kind: 'removed', subject: 'batch', seq: 0 },
    });
  });

  test('a month whose checkpoints were removed does not verify', async () => {
    const remove = 'DELETE FROM consent_audit.access_checkpoint WHERE number < 3';
    expect(await verifyMarchAfter(deleteRecords, deleteBatches, remove)).toMatchObject({
      fault: { kind: 'removed', subject: 'checkpoint', detail: 'checkpoint 1 is gone' },
    });
  });

  test('batches that the database alone calls dropped are named', async () => {
    const claim = `INSERT INTO consent_audit.access_dropped (writer, seq, at, hash, kept_from)
     SELECT writer, seq, '1970-01-01', hash, '1970-02-01' FROM access_batch WHERE ${inMarch} AND seq = 1`;
    expect(await verifyMarchAfter(claim, deleteRecords, deleteBatches)).toMatchObject({
      fault: { kind: 'removed', subject: 'batch' },
    });
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
