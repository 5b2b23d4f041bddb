import { join } from 'node:path';
import { defaultDataDirectory } from '@phds/local-stack/data-directory';
import { type Stack, type StackOptions, startStack } from '@phds/local-stack/stack';
import { findProcesses, type Side } from './measure.ts';
import type { Options } from './options.ts';
import { connectUsers, fillReadings } from './prepare.ts';

/** A stack with readings and connected users, ready for load. */
export interface PreparedStack extends AsyncDisposable {
  readonly stack: Stack;
  readonly side: Side;
}

/** Defaults: one gateway and the usual environment. */
export interface StackSettings {
  readonly gateways?: number;
  readonly environment?: StackOptions['environment'];
}

/** Starts a separate stack under `.data/`, fills it unless an earlier run did, and connects every user to an app. */
export async function prepareStack(
  name: string,
  options: Options,
  { gateways = 1, environment = {} }: StackSettings = {},
): Promise<PreparedStack> {
  const dataDirectory = join(defaultDataDirectory, name);
  const { fresh, users, readings, connections, seconds } = options;
  const stack = await startStack({
    dataDirectory,
    ports: { random: true, gateways },
    fresh,
    seed: false,
    environment,
    say: console.log,
  });
  console.log(`filling in ${users} users with ${readings} readings each`);
  await fillReadings(stack, users, readings);
  console.log('connecting the users to an app');
  const requestsFile = join(dataDirectory, 'requests.txt');
  await connectUsers(stack, users, requestsFile);
  const job = { connections, seconds, url: stack.gatewayUrls[0] ?? '', requestsFile };
  const processes = await findProcesses(stack, dataDirectory);
  return { stack, side: { job, processes }, [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose]() };
}
