import type { TestServer } from '@phds/test-kit/test-servers';
import { startRunningStack } from './running-stack.ts';
import { type StackDescription, toStackDescription } from './shared-stack.ts';

/** The stack that the files of a test run share: two gateways and the synthetic users' data. */
export async function startSharedStack(): Promise<TestServer<StackDescription>> {
  const stack = await startRunningStack({ seed: true, gateways: 2 });
  return { description: toStackDescription(stack), stop: () => stack[Symbol.asyncDispose]() };
}

/** The stack in sandbox mode that the files of a test run share. */
export async function startSharedSandbox(): Promise<TestServer<StackDescription>> {
  const stack = await startRunningStack({ seed: true, sandbox: true });
  return { description: toStackDescription(stack), stop: () => stack[Symbol.asyncDispose]() };
}

/** The Chromium that the files of a test run share. Loaded only when a test needs one, because every test run loads this file. */
export async function startSharedBrowser(): Promise<TestServer<string>> {
  const { url, close } = await (await import('./chromium.ts')).serveChromium();
  return { description: url, stop: close };
}
