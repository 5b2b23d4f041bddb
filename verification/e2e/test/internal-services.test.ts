import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { repositoryRoot } from '@phds/local-stack/data-directory';
import { inheritedEnvironment } from '@phds/local-stack/servers/guard';
import { registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { useSharedStack } from '@phds/running-system/shared-stack';

const HEART = 'read:health-data:heart';
const stack = await useSharedStack();
const page = await readFile(join(repositoryRoot, 'docs/internal-services.md'), 'utf8');

/** The sample below a heading of the page. */
function findSample(heading: string, language: string): string {
  const section = page.split(`### ${heading}\n`)[1] ?? '';
  return section.split(`\`\`\`${language}\n`)[1]?.split('```')[0] ?? '';
}

/** Runs a sample for a person who has just connected an app, and returns the JSON of each line. */
async function run(
  userId: string,
  command: string,
  args: readonly string[],
  directory: string,
  sample: string,
) {
  const app = await registerApp(stack.gateway, await signIn(stack, 'developer'));
  const { grantId, accessToken } = await app.connect(await signIn(stack, userId), [HEART]);
  const { authorization, consent, 'health-data': healthData } = stack.connectUrls;
  const env = {
    ...inheritedEnvironment(),
    SERVICE_PRIVATE_KEY_FILE: stack.keys.servicePrivateKeys['example-service'],
    AUTHORIZATION_PORT: new URL(authorization).port,
    CONSENT_PORT: new URL(consent).port,
    HEALTH_DATA_PORT: new URL(healthData).port,
    CONSENT_ADDRESS: stack.rpcAddresses.consent,
    ACCESS_TOKEN: accessToken,
    USER_ID: userId,
    CLIENT_ID: app.clientId,
    GRANT_ID: grantId,
  };
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const options = { cwd: join(repositoryRoot, directory), env };
  const child = execFile(command, args, options, (error, output) =>
    error === null ? resolve(output) : reject(error),
  );
  child.stdin?.end(sample);
  const answers = (await promise)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  return { answers, grantId, clientId: app.clientId };
}

const PHDS = `${process.execPath} packages/local-stack/src/phds/main.ts`;
test('the sample for curl checks a token and consent, ends the grant, stores a reading, and reads why it is refused', async () => {
  // Without --norc, bash takes the socket of its input for a remote shell and runs the start file of the user.
  const sample = findSample('curl', 'sh').replaceAll('pnpm --silent phds', PHDS);
  const userId = 'internal-curl';
  const { answers, grantId, clientId } = await run(userId, 'bash', ['--norc', '-c', sample], '.', '');
  expect(answers).toMatchObject([
    { principal: { clientId, userId, grantId, scopes: [HEART] } },
    { shared: true, grantId },
    { revokedAt: expect.anything() },
    { result: { inserted: 1 } },
    { message: 'example may not call Approve; only authorization may' },
  ]);
});

test('the sample for Python checks a token and consent', async () => {
  const userId = 'internal-python';
  const sample = findSample('Python', 'python');
  const { answers, grantId, clientId } = await run(userId, 'python3', ['-'], '.', sample);
  expect(answers).toMatchObject([
    { principal: { clientId, userId, grantId, scopes: [HEART] } },
    { shared: true, grantId },
  ]);
});

test('the sample for gRPC asks what a person shares', async () => {
  const program = findSample('gRPC', 'js').replace("'proto'", JSON.stringify(join(repositoryRoot, 'proto')));
  const args = ['--input-type=module', '-'];
  const { answers, grantId } = await run(
    'internal-grpc',
    process.execPath,
    args,
    'verification/running-system',
    program,
  );
  expect(answers).toMatchObject([{ shared: true, grantId }]);
});
