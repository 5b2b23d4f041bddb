import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type DatedRecords, startDatedRecords } from './dated-checkpoints.ts';
import { phdsRecords, verifyRecords } from './verify-command.ts';

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
