import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { repositoryRoot } from '@phds/local-stack/data-directory';
import { inheritedEnvironment } from '@phds/local-stack/servers/guard';
import { IndependentClient } from '@phds/running-system/independent-grpc';
import { registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { useSharedStack } from '@phds/running-system/shared-stack';
import { eventually } from '@phds/test-kit/conditions';
import { shared } from '@phds/test-kit/shared';
import { runAsOperator } from '../src/operator-command.ts';

const HEART = 'read:health-data:heart';
const PERSON = 'person-with-notices';

const stack = await useSharedStack();
const client = shared.use(new IndependentClient(stack.rpcAddresses.consent));

/** Calls ListNotices as a program that has only the proto files, an address and a key. */
async function listNotices(after: string) {
  const token = await (await stack.serviceTokens('host-application'))('consent');
  const metadata = { authorization: `Bearer ${token}` };
  return client.call('/phds.consent.v1.NoticeService/ListNotices', { after }, metadata);
}

/** The cursor behind everything that other tests left in the feed. */
async function findEnd(after = ''): Promise<string> {
  const { notices, next } = await listNotices(after);
  return notices.length === 0 ? next : findEnd(next);
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

test('the host application reads that a connection began, also by the program of the documentation, until its person is erased', async () => {
  const end = await findEnd();
  const app = await registerApp(stack.gateway, await signIn(stack, 'developer'), { name: 'Pulse Diary' });
  const { grantId, accessToken } = await app.connect(await signIn(stack, PERSON), [HEART]);
  const ofPerson = async () =>
    (await listNotices(end)).notices.filter((notice: { user_id: string }) => notice.user_id === PERSON);

  const began = await eventually(async () => (await ofPerson())[0] ?? false);
  expect(began).toMatchObject({
    connection_began: {
      connection: {
        grant_id: grantId,
        client_id: app.clientId,
        app_name: 'Pulse Diary',
        terms: { scopes: [HEART], data_from: '' },
      },
    },
  });
  expect(JSON.stringify(began)).not.toContain(accessToken);
  expect(await runExample()).toContain(began.id);

  const erasure = ['erase', '--user', PERSON, '--confirm', PERSON, '--reason', 'a test'];
  expect(await runAsOperator(stack, erasure)).toMatchObject({ code: 0 });
  expect(await ofPerson()).toEqual([]);
});
