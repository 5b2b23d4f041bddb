import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repositoryRoot } from '@phds/local-stack/data-directory';
import type { Answer } from '@phds/running-system/request';
import type { SharedStack } from '@phds/running-system/shared-stack';

const PROGRAM = join(repositoryRoot, 'packages/cli/src/main.ts');

/** Runs `phds import` in a process of its own and returns its report. Rejects when its exit code is not 0. */
export async function runImport(stack: SharedStack, args: readonly string[]): Promise<Answer['body']> {
  const { stdout } = await promisify(execFile)(process.execPath, toArguments(args), {
    env: toEnvironment(stack),
  });
  return JSON.parse(stdout);
}

/** Runs `phds imports undo` in the same way. */
export async function undoImport(stack: SharedStack, args: readonly string[]): Promise<Answer['body']> {
  const command = [PROGRAM, 'imports', 'undo', ...args, '--confirm', 'undo', '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, command, { env: toEnvironment(stack) });
  return JSON.parse(stdout);
}

/** Starts `phds import` and returns the process, which the caller may kill. Its output is ignored. */
export function startImport(stack: SharedStack, args: readonly string[]): ChildProcess {
  return spawn(process.execPath, toArguments(args), { env: toEnvironment(stack), stdio: 'ignore' });
}

function toArguments(args: readonly string[]): string[] {
  return [PROGRAM, 'import', ...args, '--json'];
}

function toEnvironment(stack: SharedStack): NodeJS.ProcessEnv {
  return {
    ...process.env,
    NODE_OPTIONS: '',
    HEALTH_DATA_ADDRESS: stack.rpcAddresses['health-data'],
    SERVICE_PRIVATE_KEY_FILE: stack.keys.servicePrivateKeys.importer,
  };
}
