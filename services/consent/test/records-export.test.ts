import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { exportRecords } from '@phds/cli/commands/records-export';
import { findRecords } from '@phds/cli/commands/records-find';
import { Verdict } from '@phds/contracts/phds/consent/v1/access_pb';
import { openFilesOfTest } from '@phds/test-kit/files-of-test';
import { shared } from '@phds/test-kit/shared';
import { accessOf, approve, HEART, MOOD, record, registerApp, shareConsent } from './running-service.ts';
import { phdsRecords, phdsRecordsUnread, runRecords } from './verify-command.ts';

const consent = await shareConsent();
const { directory } = shared.use(openFilesOfTest());
const app = await registerApp(consent);
const grant = await approve(consent, app, 'ada');
await record(consent, { ...accessOf(grant), requestId: 'first' });
await record(consent, { ...accessOf(grant), scope: MOOD, requestId: 'second' });
await record(consent, accessOf(await approve(consent, app, 'grace')));
// Both formats contain the approved name of the app.
await consent.ledger.putApp({ app: { ...app, name: 'Data Broker' } });

const exported = (userId: string, format: 'csv' | 'fhir' = 'csv', file: string | null = null) =>
  runRecords(consent, (parts) => exportRecords({ userId, range: null, format, file }, parts));

test("a person's records as CSV: released and refused ones, oldest first, of this person only", async () => {
  const { code, stdout } = await exported('ada');
  const [header, ...lines] = stdout.split('\r\n');
  expect(code).toBe(0);
  expect(header).toBe(
    'id,at,app,appName,grantId,scope,endpoint,from,to,page,recordCount,requestId,outcome,reason',
  );
  expect(lines).toEqual([
    expect.stringMatching(
      /^acc_[0-9a-f]{32},\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z,app_\w+,Pulse Diary,grt_\w+,read:health-data:heart,\/api\/v1\/health-data\/heart,2026-01-01,,1,20,first,released,$/,
    ),
    expect.stringMatching(/,second,refused,SCOPE_WITHDRAWN$/),
    '',
  ]);
});

test('a person’s records as FHIR AuditEvents in a file that only its owner can read', async () => {
  const file = join(directory, 'ada.ndjson');
  expect(await exported('ada', 'fhir', file)).toEqual({
    code: 0,
    stdout: '',
    stderr: '',
  });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const events = (await readFile(file, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(events).toMatchObject([
    { resourceType: 'AuditEvent', action: 'R', outcome: '0', agent: [{ requestor: true }] },
    { resourceType: 'AuditEvent', outcome: '4', outcomeDesc: 'SCOPE_WITHDRAWN' },
  ]);
  expect(events[0].agent[0].who).toEqual({ identifier: { value: grant.clientId }, display: 'Pulse Diary' });
  expect(events[0].entity[0].what.identifier.value).toBe('ada');
});

test('an app approved again under another name is exported with the approved name at each access', async () => {
  const app = await registerApp(consent);
  const first = await approve(consent, app, 'hedy');
  await record(consent, accessOf(first));
  const renamed = { ...app, name: 'Data Broker' };
  await consent.ledger.putApp({ app: renamed });
  expect((await approve(consent, renamed, 'hedy')).grantId).toBe(first.grantId);
  await record(consent, accessOf(first));
  const { stdout } = await exported('hedy');
  const names = stdout.split('\r\n').slice(1, -1);
  expect(names).toEqual([expect.stringContaining(',Pulse Diary,'), expect.stringContaining(',Data Broker,')]);
});

test('an export ends without an error when its reader stops', async () => {
  const result = await phdsRecordsUnread(consent, ['export', '--user', 'ada', '--format', 'csv']);
  expect(result).toEqual({ code: 0, stdout: '', stderr: '' });
});

test('a person without records does not get an empty file', async () => {
  const { code, stdout, stderr } = await exported('nobody');
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain('No records belong to a user nobody');
});

const MINUTE_MS = 60_000;
const moment = (ms: number) => new Date(Date.now() + ms);
const HOUR = { from: moment(-60 * MINUTE_MS), to: moment(60 * MINUTE_MS) };

type Search = Parameters<typeof findRecords>[0];

/** The rows that a search prints as lines of JSON. */
async function find(search: Search['search'], parts: Partial<Search>): Promise<unknown[]> {
  const args = { search, clientId: null, ...HOUR, json: true, file: null, ...parts };
  const { code, stdout, stderr } = await runRecords(consent, (surroundings) =>
    findRecords(args, surroundings),
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

describe('a search in the records', () => {
  test('for reads after a revocation finds a released one, and no refused one', async () => {
    const { clientId, ...app } = await registerApp(consent);
    const grant = await approve(consent, { clientId, ...app }, 'ida');
    expect(await record(consent, { ...accessOf(grant), requestId: 'released' })).toBe(Verdict.RELEASED);
    await consent.asGateway.revokeGrant({ id: grant.grantId }, await consent.session('ida'));
    expect(await record(consent, accessOf(grant))).not.toBe(Verdict.RELEASED);
    expect(await find('late', {})).toEqual([]);
    // As if the revocation had been there before the first read.
    await consent.owner.query(
      `UPDATE consent_grant SET revoked_at = revoked_at - interval '10 minutes' WHERE id = $1`,
      [grant.grantId],
    );
    expect(await find('late', {})).toMatchObject([
      { user: 'ida', app: clientId, grantId: grant.grantId, requestId: 'released', items: 20 },
    ]);
    expect(await find('late', { clientId: 'another' })).toEqual([]);
  });

  test('for what an app read counts what was released, by person, grant and scope', async () => {
    const app = await registerApp(consent);
    const grant = await approve(consent, app, 'gerda');
    await record(consent, accessOf(grant));
    await record(consent, accessOf(grant));
    await record(consent, { ...accessOf(grant), scope: 'read:mood' });
    await record(consent, accessOf(await approve(consent, await registerApp(consent), 'gerda')));
    const row = { user: 'gerda', app: app.clientId, grantId: grant.grantId, scope: HEART };
    expect(await find('reads', { clientId: app.clientId })).toEqual([
      {
        ...row,
        answers: 2,
        items: 40,
        first: expect.stringMatching(/Z$/),
        last: expect.stringMatching(/Z$/),
      },
    ]);
    expect(await find('reads', { clientId: app.clientId, to: HOUR.from })).toEqual([]);
  });

  test('for approvals finds each one of the period with its person, also of a grant that has ended', async () => {
    const app = await registerApp(consent);
    const { grantId } = await approve(consent, app, 'maria');
    const { clientId } = app;
    expect(await find('approvals', { clientId })).toMatchObject([
      { user: 'maria', app: clientId, grantId, endedAt: '' },
    ]);
    await consent.asGateway.revokeGrant({ id: grantId }, await consent.session('maria'));
    expect(await find('approvals', { clientId, from: null, to: null })).toMatchObject([
      { grantId, endedAt: expect.stringMatching(/Z$/) },
    ]);
    expect(await find('approvals', { clientId, from: moment(30 * MINUTE_MS) })).toEqual([]);
  });

  test('prints CSV, and what is printed about people is in the operators’ record first', async () => {
    const lastActs = async (count: number) => (await consent.acts.asOperator.listActs({})).acts.slice(-count);
    const { stdout } = await phdsRecords(consent, ['reads', '--app', grant.clientId]);
    const [header, ...rows] = stdout.split('\r\n');
    expect(header).toBe('user,app,grantId,scope,answers,items,first,last');
    expect(rows).toContainEqual(
      expect.stringMatching(`^ada,${grant.clientId},${grant.grantId},read:health-data:heart,1,20,`),
    );
    await phdsRecords(consent, ['export', '--user', 'ada', '--format', 'csv']);
    const rpc = 'phds.consent.v1.PersonOperatorService/AnnounceRecordsRead';
    expect((await lastActs(3)).filter((act) => act.rpc === rpc)).toMatchObject([
      { clientId: grant.clientId, userId: '' },
      { clientId: '', userId: 'ada' },
    ]);
  });

  test('prints nothing when the operators’ record cannot be written', async () => {
    const unreachable = { ...consent.operatorSettings, CONSENT_ADDRESS: '127.0.0.1:1' };
    const elsewhere = { ...consent, operatorSettings: unreachable };
    const { code, stdout, stderr } = await phdsRecords(elsewhere, ['reads']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toBe("The operators' record has to come first. consent does not answer.\n");
  });
});
