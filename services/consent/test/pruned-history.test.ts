import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Verdict } from '@phds/contracts/phds/consent/v1/access_pb';
import pg from 'pg';
import { startDatedRecords } from './dated-checkpoints.ts';
import { makeMonth } from './months.ts';
import {
  accessOf,
  approve,
  openPending,
  type RunningService,
  record,
  registerApp,
  startConsent,
} from './running-service.ts';
import { verifyRecords } from './verify-command.ts';

let consent: RunningService;
let runtime: pg.Client;

beforeAll(async () => {
  consent = await startConsent({ settings: { PRUNE_INTERVAL_MS: '3600000' } });
  runtime = new pg.Client({ connectionString: consent.database.url, options: '-c search_path=consent' });
  await runtime.connect();
});
afterAll(async () => {
  await runtime?.end();
  await consent?.[Symbol.asyncDispose]();
});

/** A grant of a sandbox person as the self-test of a gateway makes and ends it. */
async function endSandboxGrant() {
  const { clientId, ...app } = await registerApp(consent, 'developer', 'app_sandbox');
  const id = await openPending(consent, { clientId, ...app });
  const { approval } = await consent.sandbox.asAuthorization.approveInSandbox({
    id,
    clientId,
    person: 'ada',
  });
  if (approval === undefined) throw new Error('no approval');
  expect(await record(consent, accessOf(approval))).toBe(Verdict.RELEASED);
  await consent.asAuthorization.revokeAppGrant({ clientId, id: approval.grantId });
  return approval;
}

const prune = async (days: number, limit = 1_000): Promise<number> =>
  (await runtime.query('SELECT prune_sandbox_grants($1, $2) AS pruned', [days, limit])).rows[0].pruned;
const rowsOf = async (grantId: string) => {
  const { rows } = await consent.owner.query<{ grants: number; events: number }>(
    `SELECT (SELECT count(*)::int FROM consent_grant WHERE id = $1) AS grants,
       (SELECT count(*)::int FROM consent_event WHERE grant_id = $1) AS events`,
    [grantId],
  );
  return rows[0];
};

test('ended grants of the sandbox go with their history, those of people stay, and the records verify', async () => {
  const ended = await endSandboxGrant();
  const later = await endSandboxGrant();
  const person = await approve(consent, await registerApp(consent), 'ada');
  await consent.asGateway.revokeGrant({ id: person.grantId }, await consent.session('ada'));
  const date = `UPDATE consent_grant SET revoked_at = revoked_at - interval '31 days' WHERE id = ANY($1)`;
  await consent.owner.query(date, [[ended.grantId, person.grantId]]);
  expect(await prune(32)).toBe(0);
  expect(await prune(30)).toBe(1);
  expect(await rowsOf(ended.grantId)).toEqual({ grants: 0, events: 0 });
  expect(await rowsOf(later.grantId)).toEqual({ grants: 1, events: 1 });
  expect(await rowsOf(person.grantId)).toEqual({ grants: 1, events: 2 });
  expect(await record(consent, accessOf(ended))).not.toBe(Verdict.RELEASED);
  expect(await verifyRecords(consent)).toMatchObject({ ok: true });
});

test('neither the service nor its owner deletes history in another way', async () => {
  await runtime.query(`SET phds.pruned_table = 'consent_event'`);
  await expect(runtime.query('DELETE FROM consent_event')).rejects.toThrow('permission denied');
  await expect(consent.owner.query('DELETE FROM consent_event')).rejects.toThrow('append-only');
  await expect(consent.owner.query('DELETE FROM consent_audit.access_dropped')).rejects.toThrow(
    'append-only',
  );
  await expect(prune(1)).rejects.toThrow('two days at least');
  await expect(runtime.query('SELECT prune_access_dropped(89, 10)')).rejects.toThrow('90 days at least');
});

test('ends of dropped chains go when nothing continues them, and what is left verifies', async () => {
  await using records = await startDatedRecords('2023-02-10T12:00:00Z');
  for (const month of ['2023_02', '2024_09', '2026_01']) await makeMonth(records.owner, month);
  for (const chain of ['ended', 'idle']) await records.record(chain);
  await records.checkpoints.take();
  records.clock.set('2024-09-10T12:00:00Z');
  await records.record('newer');
  await records.checkpoints.take();
  records.clock.set('2026-01-10T12:00:00Z');
  await records.record('idle');
  await records.owner.query('SELECT drop_access_partitions(90)');
  await records.owner.query('SELECT drop_access_partitions(90)');
  records.clock.set('2026-11-10T12:00:00Z');
  await records.checkpoints.take();
  const pruneDropped = async () =>
    (await records.owner.query('SELECT prune_access_dropped(400, 1000) AS pruned')).rows[0].pruned;
  // Checkpoints that list the ended chain are still there.
  expect(await pruneDropped()).toBe(0);
  await records.checkpoints.dropOld(new AbortController().signal);
  expect(await pruneDropped()).toBe(1);
  expect(await verifyRecords(records)).toMatchObject({ ok: true, fault: null });
});
