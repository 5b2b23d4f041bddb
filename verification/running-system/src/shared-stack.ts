import { createServiceTokens } from '@phds/local-stack/key-files';
import { findGivenDeployment } from './given-deployment.ts';
import type { RunningStack } from './running-stack.ts';

/**
 * Set by the test run that serves stacks and browsers: a base URL that returns the description of a worker's stack at
 * `/stacks/<worker>`, and the address of its Chromium at `/browsers/<worker>`.
 */
export const SHARED_STACKS_VARIABLE = 'PHDS_TEST_SHARED_STACKS';

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
 * The stack of this worker, with the synthetic users' data and everything that earlier test files left: a test reads only the data
 * of its own users and apps. A deployment named by the environment is used instead.
 */
export async function useSharedStack(): Promise<SharedStack> {
  const given = findGivenDeployment(process.env);
  if (given !== null) return given;
  const description = (await askForShared('stacks')) as StackDescription;
  return { ...description, serviceTokens: createServiceTokens(description.keys) };
}

/** The address of this worker's Chromium, to which `chromium.connectOverCDP` connects. */
export async function findSharedBrowser(): Promise<string> {
  return (await askForShared('browsers')) as string;
}

async function askForShared(what: 'stacks' | 'browsers'): Promise<unknown> {
  const base = process.env[SHARED_STACKS_VARIABLE];
  if (!base)
    throw new Error(`no shared ${what}: run the tests with jest and the jest.config.js of the workspace`);
  const response = await fetch(`${base}/${what}/${process.env['JEST_WORKER_ID'] ?? 1}`);
  if (!response.ok) throw new Error(`the shared ${what} did not start: ${await response.text()}`);
  return response.json();
}
