import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot } from '@phds/local-stack/data-directory';
import { findRandomPorts, type StackPorts } from '@phds/local-stack/ports';
import { THROWAWAY_SETTINGS } from '@phds/local-stack/servers/embedded-postgres';
import { leasePort } from '@phds/local-stack/servers/leased-ports';
import { type StackOptions, startStack } from '@phds/local-stack/stack';
import { expectStatus, PartnerApp, type Tokens } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { type RunningStack, withPatience } from '@phds/running-system/running-stack';
import { type connectPerson, HEART_PATH, useEverything } from '@phds/running-system/working-system';
import { eventually } from '@phds/test-kit/conditions';
import { verifyChain } from '../judge.ts';
import type { Checkout } from './checkout.ts';

/** An earlier checkout has none. */
export const BUILT_PAGES = {
  WEB_DIRECTORY: join(repositoryRoot, 'packages/web/dist'),
  DOCS_DIRECTORY: join(repositoryRoot, 'packages/docs/dist'),
};

/** Where releases have the local stack. */
const PACKAGES = ['packages/local-stack', 'packages/dev-stack'];

/**
 * Has the earlier release make data, stops it, and starts this release on the same data directory: what people and apps had is still
 * there, what they had ended stays so, and the access records of both releases verify. Throws if not.
 */
export async function proveUpgrade(
  earlier: Checkout,
  { say, signal }: { readonly say: (line: string) => void; readonly signal: AbortSignal },
): Promise<void> {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'phds-upgrade-'));
  await using directory = new AsyncDisposableStack();
  directory.defer(() => rm(dataDirectory, { recursive: true, force: true, maxRetries: 3 }));
  const release = await load(earlier);
  // Releases have ports of their own besides the common ones.
  const ports: StackPorts & Record<string, unknown> = { ...(await findRandomPorts(1)) };
  for (const name of Object.keys(await release.findRandomPorts(1))) ports[name] ??= await leasePort();
  const options = { dataDirectory, ports, seed: false, postgresSettings: THROWAWAY_SETTINGS, signal };
  const before = await makeData(release, options);
  say(`${earlier.revision} made apps, grants, tokens, readings and access records, and stopped`);

  await using stack = toRunning(await startStack({ ...options, environment: withPatience() }));
  const [kept, ended] = before;
  const session = await signIn(stack, kept.user);
  await eventually(() => useEverything({ ...kept, session }), { timeoutMs: 60_000, intervalMs: 500 });
  const { body } = expectStatus(
    200,
    await send(`${stack.gateway}/partner/consent/grants`, { bearer: session }),
  );
  const grants: readonly { readonly id: string }[] = body.data;
  if (!grants.some(({ id }) => id === kept.tokens.grantId)) throw new Error('the grant is not listed');
  expectStatus(401, await ended.app.read(ended.tokens.accessToken, HEART_PATH));
  expectStatus(200, await kept.app.revoke(kept.tokens.refreshToken));
  expectStatus(401, await kept.app.read(kept.tokens.accessToken, HEART_PATH));
  const { ok, text } = await verifyChain(stack);
  if (!ok) throw new Error(text);
  say(`this release on that data: tokens read, grants are listed, what was ended stays ended. ${text}`);
}

/** The local stack of a release, and a person and an app as its own tests make them. */
interface Release {
  readonly startStack: typeof startStack;
  readonly findRandomPorts: typeof findRandomPorts;
  readonly connectPerson: typeof connectPerson;
}

async function load({ directory, revision }: Checkout): Promise<Release> {
  const path = PACKAGES.map((each) => join(directory, each, 'src')).find(existsSync);
  if (path === undefined) throw new Error(`${revision} has no local stack`);
  return {
    ...(await import(join(path, 'stack.ts'))),
    ...(await import(join(path, 'ports.ts'))),
    ...(await import(join(directory, 'verification/running-system/src/working-system.ts'))),
  };
}

async function makeData(release: Release, options: StackOptions) {
  const environment = withPatience({ gateway: BUILT_PAGES });
  await using stack = toRunning(await release.startStack({ ...options, environment }));
  const connect = async (user: string) => {
    const { app, tokens } = await release.connectPerson(stack, user);
    return { user, app: new PartnerApp(stack.gateway, app), tokens };
  };
  const [kept, ended] = [await connect('kept'), await connect('ended')];
  for (const { app, tokens } of [kept, ended]) await expectReading(app, tokens);
  expectStatus(200, await ended.app.revoke(ended.tokens.refreshToken));
  return [kept, ended] as const;
}

async function expectReading(app: PartnerApp, { accessToken }: Tokens): Promise<void> {
  const { status } = await fetch(app.gateway + HEART_PATH, {
    headers: { authorization: `Bearer ${accessToken}` },
  });
  if (status !== 200) throw new Error(`a token reads ${status}`);
}

function toRunning(stack: Awaited<ReturnType<typeof startStack>>): RunningStack {
  return { ...stack, gateway: stack.gatewayUrls[0] as string };
}
