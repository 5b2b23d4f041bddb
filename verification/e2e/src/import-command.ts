import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { runCommand } from '@phds/cli/run-program';
import { repositoryRoot } from '@phds/local-stack/data-directory';
import type { Answer } from '@phds/running-system/request';
import type { SharedStack } from '@phds/running-system/shared-stack';
import { collectOutput } from '@phds/test-kit/collected-output';

const PROGRAM = join(repositoryRoot, 'packages/cli/src/main.ts');

/** Runs `phds import` in this process and returns its report. Rejects when its exit code is not 0. */
export async function runImport(stack: SharedStack, args: readonly string[]): Promise<Answer['body']> {
  const { output, errors, texts } = collectOutput();
  const code = await runCommand(['import', ...args, '--json'], { env: toSettings(stack), output, errors });
  if (code !== 0) throw new Error(`phds import ${args.join(' ')} ended with ${code}: ${texts.stderr}`);
  return JSON.parse(texts.stdout);
}

/** Starts `phds import` in a process, which the caller may kill. Its output is ignored. */
export function startImport(stack: SharedStack, args: readonly string[]): ChildProcess {
  const env = { ...process.env, NODE_OPTIONS: '', ...toSettings(stack) };
  return spawn(process.execPath, [PROGRAM, 'import', ...args, '--json'], { env, stdio: 'ignore' });
}

function toSettings(stack: SharedStack) {
  return {
    HEALTH_DATA_ADDRESS: stack.rpcAddresses['health-data'],
    SERVICE_PRIVATE_KEY_FILE: stack.keys.servicePrivateKeys.importer,
  };
}
