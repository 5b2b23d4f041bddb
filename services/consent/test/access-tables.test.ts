import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { KEY_LOOK_UPS } from '@phds/service-kit/postgres/postgres';
import { readStatement } from '@phds/service-kit/postgres/statement';
import { explainGeneric, listIndexes, listNamedIndexes, readSqlFiles } from '@phds/test-kit/sql-files';
import pg from 'pg';
import { accessOf, approve, type RunningService, registerApp, startConsent } from './running-service.ts';

let consent: RunningService;

beforeAll(async () => {
  consent = await startConsent();
});
afterAll(() => consent[Symbol.asyncDispose]());

describe('records', () => {
  test.each([
    'UPDATE access_record SET record_count = 0',
    'DELETE FROM access_record',
    'TRUNCATE access_record',
    'UPDATE access_batch SET hash = hash',
    'DELETE FROM access_batch',
    'TRUNCATE access_batch',
    'UPDATE access_record_default SET record_count = 0',
    'DELETE FROM access_batch_default',
    'UPDATE consent_audit.access_checkpoint SET jws = jws',
    'DELETE FROM consent_audit.access_dropped',
    "UPDATE consent_audit.restore SET kind = 'first'",
    'DELETE FROM consent_audit.restore',
    'DELETE FROM consent_audit.restore_confirmation',
    'DELETE FROM consent_event',
  ])('are append-only for the service and the owner: %s', async (statement) => {
    const runtime = new pg.Client({
      connectionString: consent.database.url,
      options: '-c search_path=consent',
    });
    await runtime.connect();
    await expect(runtime.query(statement)).rejects.toThrow(/permission denied/);
    await runtime.end();
    await expect(consent.owner.query(statement)).rejects.toThrow(/append-only/);
  });

  test('are refused completely when one item of the batch is malformed', async () => {
    const grant = await approve(consent, await registerApp(consent), 'malformed');
    const accesses = [
      accessOf(grant),
      { ...accessOf(grant), tokenHash: createHash('md5').update('').digest() },
    ];
    await expect(consent.records.recordAccess({ accesses })).rejects.toMatchObject({
      reason: 'invalid_request',
    });
    const { rows } = await consent.owner.query('SELECT 1 FROM access_record WHERE grant_id = $1', [
      grant.grantId,
    ]);
    expect(rows).toEqual([]);
  });
});

test.each(readSqlFiles(new URL('../src/store/sql/', import.meta.url), readStatement))(
  "%s finds everything by the indexes that its comment names, whatever the tables' size was at planning time",
  async (_, text) => {
    const client = await consent.owner.connect();
    try {
      for (const [name, value] of Object.entries(KEY_LOOK_UPS)) await client.query(`SET ${name} = ${value}`);
      const plan = await explainGeneric(client, text);
      expect(plan).not.toMatch(/Seq Scan on (?!access_uncounted)|Hash Join|Merge Join/);
      expect(listIndexes(plan)).toEqual(expect.arrayContaining(listNamedIndexes(text)));
    } finally {
      client.release(true);
    }
  },
);
