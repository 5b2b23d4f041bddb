import { readFile } from 'node:fs/promises';
import { createServiceTokenSource } from '@phds/service-kit/service-token';
import { findGivenDeployment } from './given-deployment.ts';
import type { RunningStack } from './running-stack.ts';

/** Set by the test run that serves the stacks: a base URL that returns a stack's description at `/<worker>`. */
export const SHARED_STACKS_VARIABLE = 'PHDS_TEST_SHARED_STACKS';

/** The part of a stack that other processes can use, as JSON. */
export type StackDescription = Omit<
  RunningStack,
  'processes' | 'redis' | 'serviceTokens' | typeof Symbol.asyncDispose
>;

/** A stack shared with other test files: it keeps running, and tests must not stop parts of it. Disposing does nothing. */
export type SharedStack = Omit<RunningStack, 'processes' | 'redis'>;

/** The part of a stack that can be sent to another process. */
export function toStackDescription(stack: RunningStack): StackDescription {
  const { gateway, gatewayUrls, identityProviderUrl, adminDatabaseUrl, databases, keys } = stack;
  const { rpcAddresses, internalUrls, probeUrls, logs } = stack;
  return {
    gateway,
    gatewayUrls,
    identityProviderUrl,
    adminDatabaseUrl,
    databases,
    keys,
    rpcAddresses,
    internalUrls,
    probeUrls,
    logs,
  };
}

/**
 * The stack of this worker, with the synthetic users' data and everything that earlier test files left: a test reads only the data
 * of its own users and apps. A deployment named by the environment is used instead.
 */
export async function useSharedStack(): Promise<SharedStack> {
  const given = findGivenDeployment(process.env);
  if (given !== null) return given;
  const base = process.env[SHARED_STACKS_VARIABLE];
  if (!base)
    throw new Error('no shared stacks: run the tests with jest and the jest.config.js of the workspace');
  const response = await fetch(`${base}/${process.env['JEST_WORKER_ID'] ?? 1}`);
  if (!response.ok) throw new Error(`the shared stack did not start: ${await response.text()}`);
  const description = (await response.json()) as StackDescription;
  return {
    ...description,
    serviceTokens: async (caller) =>
      createServiceTokenSource({
        service: caller,
        privateKeyPem: await readFile(description.keys.servicePrivateKeys[caller], 'utf8'),
      }),
    [Symbol.asyncDispose]: async () => undefined,
  };
}
