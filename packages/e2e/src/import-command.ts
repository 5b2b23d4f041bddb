import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repositoryRoot } from '@phds/dev-stack/data-directory';
import type { Answer } from './request.ts';
import type { RunningStack } from './running-stack.ts';

/** Runs `phds import` as a person would, and answers its report. Rejects when it ends with another code than 0. */
export async function runImport(stack: RunningStack, args: readonly string[]): Promise<Answer['body']> {
  const program = join(repositoryRoot, 'packages/cli/src/main.ts');
  const env = {
    ...process.env,
    NODE_OPTIONS: '',
    HEALTH_DATA_ADDRESS: stack.rpcAddresses['health-data'],
    SERVICE_PRIVATE_KEY_FILE: stack.keys.servicePrivateKeys.importer,
  };
  const { stdout } = await promisify(execFile)(process.execPath, [program, 'import', ...args, '--json'], {
    env,
  });
  return JSON.parse(stdout);
}
