import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { repositoryRoot } from '@phds/local-stack/data-directory';
import type { Caller } from '@phds/local-stack/key-files';
import { inheritedEnvironment } from '@phds/local-stack/servers/guard';
import { IndependentClient } from '@phds/running-system/independent-grpc';
import { expectStatus, type PartnerApp, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { type RunningStack, startRunningStack } from '@phds/running-system/running-stack';
import { eventually } from '@phds/test-kit/conditions';
import { letDaysPass } from '@phds/test-kit/passing-days';
import { runAsOperator } from '../src/operator-command.ts';

const HEART = 'read:health-data:heart';
const HEART_PATH = '/api/v1/health-data/heart';
const PERSON = 'person-with-notices';

let stack: RunningStack;
let client: IndependentClient;
let app: PartnerApp;

beforeAll(async () => {
  const environment = { consent: { NOTICE_SCAN_INTERVAL_MS: '100', COUNT_INTERVAL_MS: '50' } };
  stack = await startRunningStack({ redis: false, environment });
  client = new IndependentClient(stack.rpcAddresses.consent);
  app = await registerApp(stack.gateway, await signIn(stack, 'developer'), { name: 'Pulse Diary' });
});
afterAll(async () => {
  client?.[Symbol.dispose]();
  await stack?.[Symbol.asyncDispose]();
});

/** Calls ListNotices as a program that has only the proto files, an address and a key. */
async function listNotices(after: string, caller: Caller = 'host-application') {
  const token = await (await stack.serviceTokens(caller))('consent');
  const metadata = { authorization: `Bearer ${token}` };
  return client.call('/phds.consent.v1.NoticeService/ListNotices', { after }, metadata);
}

/** Reads on from that cursor until there is a notice, and expects exactly one. */
async function nextNotice(after: string) {
  const { notices, next } = await eventually(async () => {
    const answer = await listNotices(after);
    return answer.notices.length > 0 && answer;
  });
  expect(notices).toHaveLength(1);
  expect(next).toBe(notices[0].cursor);
  return notices[0];
}

function consentAdminUrl(): string {
  const url = new URL(stack.adminDatabaseUrl);
  url.pathname = new URL(stack.databases.consent.url).pathname;
  return url.href;
}

/** Runs the program of docs/notices.md and returns what it prints. */
async function runExample(): Promise<string> {
  const page = await readFile(join(repositoryRoot, 'docs/notices.md'), 'utf8');
  const program = page.split('```js\n')[1]?.split('```')[0] ?? '';
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const options = {
    // Its packages are installed here.
    cwd: join(repositoryRoot, 'verification/running-system'),
    env: {
      ...inheritedEnvironment(),
      CONSENT_ADDRESS: stack.rpcAddresses.consent,
      SERVICE_PRIVATE_KEY_FILE: stack.keys.servicePrivateKeys['host-application'],
    },
  };
  const child = execFile(process.execPath, ['--input-type=module', '-'], options, (error, output) =>
    error === null ? resolve(output) : reject(error),
  );
  child.stdin?.end(program.replace("['proto']", JSON.stringify([join(repositoryRoot, 'proto')])));
  return promise;
}

test('the host application reads that a connection began, ends soon and reads unusually much, until its person is erased', async () => {
  const session = await signIn(stack, PERSON);
  const { grantId, accessToken } = await app.connect(session, [HEART]);
  const connection = { grant_id: grantId, client_id: app.clientId, app_name: 'Pulse Diary' };

  const began = await nextNotice('');
  expect(began).toMatchObject({
    user_id: PERSON,
    connection_began: { connection: { ...connection, terms: { scopes: [HEART], data_from: '' } } },
  });

  expectStatus(200, await app.read(accessToken, HEART_PATH));
  await letDaysPass(consentAdminUrl(), grantId, 84);
  const ending = await nextNotice(began.cursor);
  expect(ending).toMatchObject({ user_id: PERSON, connection_ending: { connection } });
  const end = Number(ending.connection_ending.connection.terms.expires_at.seconds);
  expect(end - Number(ending.at.seconds)).toBeLessThanOrEqual(7 * 86_400);

  for (let read = 0; read < 101; read += 1) expectStatus(200, await app.read(accessToken, HEART_PATH));
  const unusual = await nextNotice(ending.cursor);
  expect(unusual).toMatchObject({
    user_id: PERSON,
    unusual_reading: { connection, usual_reads_per_day: 0 },
  });
  expect(unusual.unusual_reading.reads).toBeGreaterThan(100);
  expect(JSON.stringify([began, ending, unusual])).not.toContain(accessToken);

  const printed = await runExample();
  for (const { id } of [began, ending, unusual]) expect(printed).toContain(id);

  const erasure = ['erase', '--user', PERSON, '--confirm', PERSON];
  expect(await runAsOperator(stack, erasure)).toMatchObject({ code: 0 });
  expect(await listNotices('')).toMatchObject({ notices: [], next: '' });
});

test('nobody but the host application reads the feed', async () => {
  for (const caller of ['gateway', 'importer', 'operator'] as const) {
    await expect(listNotices('', caller)).rejects.toMatchObject({
      code: status.PERMISSION_DENIED,
      detail: { reason: 'REASON_CALLER_NOT_ADMITTED' },
    });
  }
});
