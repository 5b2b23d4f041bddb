import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { leasePort } from '@phds/local-stack/servers/leased-ports';
import type { SharedStack } from '@phds/running-system/shared-stack';

const PROGRAM = resolve(import.meta.dirname, '../../../packages/example-app/src/main.ts');

/** The example of a partner app, running as a process of its own. */
export interface RunningExampleApp extends AsyncDisposable {
  readonly url: string;
}

/** Starts this form of the app beside this stack, as `npm run example` does, and waits until it says where to open it. */
export async function startExampleApp(stack: SharedStack, form: 'server' | 'page') {
  const port = String(await leasePort());
  const { gateway: PHDS_URL, identityProviderUrl: IDENTITY_PROVIDER_URL } = stack;
  const env = { ...process.env, PHDS_URL, IDENTITY_PROVIDER_URL, PORT: port };
  const args = ['--disable-warning=ExperimentalWarning', PROGRAM, form];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /^Open (http:\/\/\S+)/.exec(line)?.[1];
    if (url !== undefined) return { url, [Symbol.asyncDispose]: stop };
  }
  throw new Error('the example app ended before it was ready');
}
