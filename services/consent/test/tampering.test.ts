import { expect, test } from '@jest/globals';
import { OPERATORS } from '@phds/record-chain/operator-act';
import { shared } from '@phds/test-kit/shared';
import type pg from 'pg';
import { connectAsSuperuser } from './database-clients.ts';
import { accessOf, approve, MOOD, registerApp, shareConsent } from './running-service.ts';
import { phdsRecords, verifyRecords } from './verify-command.ts';

// Checkpoints are signed at the end only, so that a test knows what is signed.
const SETTINGS = { CHECKPOINT_INTERVAL_MS: '3600000' };
const CALLS = 4;
const RECORDS_A_CALL = 5;
const ACTS = 4;

/** The history of a cleanly stopped service: signed to its end. */
const consent = await shareConsent({ settings: SETTINGS });
const grant = await approve(consent, await registerApp(consent), 'ada');
for (let call = 0; call < CALLS; call += 1) {
  const accesses = Array.from({ length: RECORDS_A_CALL }, () => accessOf(grant));
  accesses[2] = { ...accessOf(grant), scope: MOOD };
  await consent.records.recordAccess({ accesses });
}
const about = { userId: '', clientId: grant.clientId, grantId: '', reason: 'asked', requestId: 'r1' };
for (let act = 0; act < ACTS; act += 1)
  await consent.acts.asHealthData.beginAct({ operator: 'on-call', rpc: 'a/B', ...about, changes: true });
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
  'consent_audit.operator_act',
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
    acts: ACTS,
    checkpoints: 1,
    fault: null,
  });
  const { code, stdout } = await phdsRecords(consent, ['verify']);
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /24 records in \d+ batches of 1 writers, 4 entries of the operators' record, 1 checkpoints; .*\nNothing was changed\.\n$/s,
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

test('batches that the database alone calls dropped are named', async () => {
  const claim = `INSERT INTO consent_audit.access_dropped (writer, seq, at, hash, kept_from)
    SELECT writer, seq, '1970-01-01', hash, '1970-02-01' FROM access_batch WHERE seq = 1`;
  const remove = ['access_record', 'access_batch'].map((table) => [`DELETE FROM ${table} WHERE seq <= 1`]);
  expect(
    await changed(admin, [[claim], ...(remove as Statement[])], () => verifyRecords(consent)),
  ).toMatchObject({ fault: { kind: 'removed', subject: 'batch' } });
});

test.each<[string, string, Record<string, unknown>]>([
  [
    'changed',
    "UPDATE consent_audit.operator_act SET reason = 'another' WHERE number = 2",
    { kind: 'changed', seq: 1 },
  ],
  ['gone', 'DELETE FROM consent_audit.operator_act WHERE number = 2', { kind: 'removed', seq: 1 }],
  [
    'exchanged with the next',
    'UPDATE consent_audit.operator_act SET number = 100 + number WHERE number IN (2, 3); UPDATE consent_audit.operator_act SET number = 105 - number WHERE number > 100',
    { kind: 'changed', seq: 1 },
  ],
  [
    'gone with all after it',
    'DELETE FROM consent_audit.operator_act WHERE number >= 2',
    { kind: 'removed', seq: 1, detail: 'checkpoint 1 signed the chain up to batch 3' },
  ],
])("an entry of the operators' record that is %s is named", async (_, sql, fault) => {
  expect(await changed(admin, [[sql]], () => verifyRecords(consent))).toMatchObject({
    ok: false,
    fault: { ...fault, writer: OPERATORS },
  });
  const { stdout } = await changed(admin, [[sql]], () => phdsRecords(consent, ['verify']));
  expect(stdout).toContain(`Entry 2 of the operators' record was ${fault['kind']}: `);
});

test('checkpoints that are gone are named', async () => {
  const remove = 'DELETE FROM consent_audit.access_checkpoint';
  const lost = `UPDATE consent_audit.access_checkpoint SET number = number + 1`;
  expect((await changed(admin, [[lost]], () => verifyRecords(consent))).ok).toBe(false);
  // Without any checkpoint only one that was kept elsewhere shows it.
  expect(await changed(admin, [[remove]], () => verifyRecords(consent))).toMatchObject({ checkpoints: 0 });
});
