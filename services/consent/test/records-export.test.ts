import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { exportRecords } from '@phds/cli/commands/records-export';
import { openFilesOfTest } from '@phds/test-kit/files-of-test';
import { shared } from '@phds/test-kit/shared';
import { accessOf, approve, MOOD, record, registerApp, shareConsent } from './running-service.ts';
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

const EVERYTHING = { userId: null, clientId: null, from: null, to: null, format: 'csv', file: null } as const;

type Choice = Partial<Parameters<typeof exportRecords>[0]>;

const exported = (choice: Choice) =>
  runRecords(consent, (parts) => exportRecords({ ...EVERYTHING, ...choice }, parts));

/** The accesses that an export writes as lines of JSON. */
async function listExported(choice: Choice): Promise<{ user: string; requestId: string }[]> {
  const { stdout } = await exported({ format: 'json', ...choice });
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

test("a person's records as CSV: released and refused ones, oldest first, of this person only", async () => {
  const { code, stdout } = await exported({ userId: 'ada' });
  const [header, ...lines] = stdout.split('\r\n');
  expect(code).toBe(0);
  expect(header).toBe(
    'user,id,at,app,appName,grantId,scope,endpoint,from,to,page,recordCount,requestId,outcome,reason',
  );
  expect(lines).toEqual([
    expect.stringMatching(
      /^ada,acc_[0-9a-f]{32},\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z,app_\w+,Pulse Diary,grt_\w+,read:health-data:heart,\/api\/v1\/health-data\/heart,2026-01-01,,1,20,first,released,$/,
    ),
    expect.stringMatching(/,second,refused,SCOPE_WITHDRAWN$/),
    '',
  ]);
});

test('lines of JSON in a file that only its owner can read', async () => {
  const file = join(directory, 'ada.ndjson');
  expect(await exported({ userId: 'ada', format: 'json', file })).toEqual({
    code: 0,
    stdout: '',
    stderr: '',
  });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const lines = (await readFile(file, 'utf8')).trim().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { user: 'ada', requestId: 'first', outcome: 'released', reason: '' },
    { user: 'ada', requestId: 'second', outcome: 'refused', reason: 'SCOPE_WITHDRAWN' },
  ]);
});

test('what an app read, and what was read in a period, of whomever it was', async () => {
  const users = async (choice: Choice) => (await listExported(choice)).map(({ user }) => user);
  expect(await users({ clientId: app.clientId })).toEqual(['ada', 'ada', 'grace']);
  expect(await users({ clientId: app.clientId, userId: 'grace' })).toEqual(['grace']);
  expect(await users({ clientId: 'app_another' })).toEqual([]);
  const [first, second] = await listExported({ clientId: app.clientId });
  const now = Date.now();
  expect(await users({ clientId: app.clientId, to: new Date(now - 3_600_000) })).toEqual([]);
  expect(await users({ clientId: app.clientId, from: new Date(now + 3_600_000) })).toEqual([]);
  expect([first?.requestId, second?.requestId]).toEqual(['first', 'second']);
  // An id from a file is in no output.
  expect(await users({ userId: 'ada', hidesUser: true })).toEqual(['', '']);
});

test('an erased person has no id', async () => {
  const given = await approve(consent, await registerApp(consent), 'erased');
  await record(consent, accessOf(given));
  await consent.asOperator.eraseUser({ userId: 'erased' });
  expect(await listExported({ clientId: given.clientId })).toMatchObject([
    { user: '', grantId: given.grantId },
  ]);
});

test('an app approved again under another name is exported with the approved name at each access', async () => {
  const app = await registerApp(consent);
  const first = await approve(consent, app, 'hedy');
  await record(consent, accessOf(first));
  const renamed = { ...app, name: 'Data Broker' };
  await consent.ledger.putApp({ app: renamed });
  expect((await approve(consent, renamed, 'hedy')).grantId).toBe(first.grantId);
  await record(consent, accessOf(first));
  const { stdout } = await exported({ userId: 'hedy' });
  const names = stdout.split('\r\n').slice(1, -1);
  expect(names).toEqual([expect.stringContaining(',Pulse Diary,'), expect.stringContaining(',Data Broker,')]);
});

test('an export ends without an error when its reader stops', async () => {
  const result = await phdsRecordsUnread(consent, ['export', '--user', 'ada', '--format', 'csv']);
  expect(result).toEqual({ code: 0, stdout: '', stderr: '' });
});

test('a person without records does not get an empty file', async () => {
  const { code, stdout, stderr } = await exported({ userId: 'nobody' });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain('No records belong to a user nobody');
});

const lastActs = async (count: number) => (await consent.acts.asOperator.listActs({})).acts.slice(-count);

test('what is printed about people is in the operators’ record first', async () => {
  await phdsRecords(consent, ['export', '--app', grant.clientId, '--format', 'csv']);
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
  const { code, stdout, stderr } = await phdsRecords(elsewhere, ['export', '--app', 'x', '--format', 'csv']);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toBe("The operators' record has to come first. consent does not answer.\n");
});
