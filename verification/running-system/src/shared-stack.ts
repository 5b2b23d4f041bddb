import { createServiceTokens } from '@phds/service-kit/keys/key-files';
import { askForServer } from '@phds/test-kit/test-server-variables';
import type { RunningStack } from './running-stack.ts';

/** A stack shared with other test files: tests must not stop it or parts of it. */
export type SharedStack = Omit<RunningStack, 'processes' | 'redis' | typeof Symbol.asyncDispose>;

/** The part of a stack that other processes can use, as JSON. */
export type StackDescription = Omit<SharedStack, 'serviceTokens'>;

/** The part of a stack that can be sent to another process. */
export function toStackDescription(stack: RunningStack): StackDescription {
  const { processes: _, redis: __, serviceTokens: ___, ...described } = stack;
  return described;
}

/**
 * The stack of this test run, with the synthetic users' data and everything that other test files leave: a test reads only the data
 * of its own users and apps.
 */
export async function useSharedStack(): Promise<SharedStack> {
  return use('stack');
}

/** The same in sandbox mode, in which everybody is made up. */
export async function useSharedSandbox(): Promise<SharedStack> {
  return use('sandbox');
}

async function use(name: 'stack' | 'sandbox'): Promise<SharedStack> {
  const description = await askForServer<StackDescription>(name);
  return { ...description, serviceTokens: createServiceTokens(description.keys) };
}

/** The address of the Chromium of this test run, to which `chromium.connectOverCDP` connects. */
export async function findSharedBrowser(): Promise<string> {
  return askForServer<string>('browser');
}
