import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  accessOf,
  approve,
  MOOD,
  type RunningService,
  record,
  registerApp,
  startConsent,
} from './running-service.ts';
import { phdsRecords } from './verify-command.ts';

let consent: RunningService;
let directory: string;
let grant: Awaited<ReturnType<typeof approve>>;

beforeAll(async () => {
  consent = await startConsent();
  directory = await mkdtemp(join(tmpdir(), 'phds-export-'));
  const app = await registerApp(consent);
  grant = await approve(consent, app, 'ada');
  await record(consent, { ...accessOf(grant), requestId: 'first' });
  await record(consent, { ...accessOf(grant), scope: MOOD, requestId: 'second' });
  await record(consent, accessOf(await approve(consent, app, 'grace')));
  // Both formats contain the approved name of the app.
  await consent.ledger.putApp({ app: { ...app, name: 'Data Broker' } });
});
afterAll(async () => {
  await rm(directory, { recursive: true });
  await consent[Symbol.asyncDispose]();
});

const exported = (...args: string[]) => phdsRecords(consent, ['export', ...args]);

test("a person's records as CSV: released and refused ones, oldest first, of this person only", async () => {
  const { code, stdout } = await exported('--user', 'ada', '--format', 'csv');
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
  expect(await exported('--user', 'ada', '--format', 'fhir', '--out', file)).toEqual({
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
  const { stdout } = await exported('--user', 'hedy', '--format', 'csv');
  const names = stdout.split('\r\n').slice(1, -1);
  expect(names).toEqual([expect.stringContaining(',Pulse Diary,'), expect.stringContaining(',Data Broker,')]);
});

test('an export ends without an error when its reader stops', async () => {
  // As `head` does: the pipe is closed before the export writes.
  const result = await phdsRecords(consent, ['export', '--user', 'ada', '--format', 'csv'], (child) =>
    child.stdout?.destroy(),
  );
  expect(result).toEqual({ code: 0, stdout: '', stderr: '' });
});

test('a person without records does not get an empty file', async () => {
  const { code, stdout, stderr } = await exported('--user', 'nobody', '--format', 'csv');
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain('No records belong to a user nobody');
});

test.each([
  ['without a user', ['--format', 'csv']],
  ['without a format', ['--user', 'ada']],
  ['in an unknown format', ['--user', 'ada', '--format', 'xml']],
])('wrong arguments end with 2 and the usage: %s', async (_, args) => {
  const { code, stderr } = await exported(...args);
  expect(code).toBe(2);
  expect(stderr).toContain('Usage:');
});
