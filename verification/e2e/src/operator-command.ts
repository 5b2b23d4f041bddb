import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { repositoryRoot } from '@phds/local-stack/data-directory';
import { LOCAL_OPERATOR } from '@phds/local-stack/key-files';
import { inheritedEnvironment } from '@phds/local-stack/servers/guard';
import type { RunningStack } from '@phds/running-system/running-stack';

export interface CommandResult {
  readonly code: number;
  /** The JSON document of its output; null when there is none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read documents of every shape, and expect() judges them
  readonly document: any;
  /** Each line of its output as a document; empty when it is one document of several lines. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly lines: readonly any[];
  readonly errors: string;
}

/** Runs `pnpm phds … --json` in a separate process, as an operator of this stack. */
export function runAsOperator(
  { rpcAddresses, keys }: Pick<RunningStack, 'rpcAddresses' | 'keys'>,
  args: readonly string[],
): Promise<CommandResult> {
  const { promise, resolve } = Promise.withResolvers<CommandResult>();
  const env = {
    ...inheritedEnvironment(),
    AUTHORIZATION_ADDRESS: rpcAddresses.authorization,
    CONSENT_ADDRESS: rpcAddresses.consent,
    HEALTH_DATA_ADDRESS: rpcAddresses['health-data'],
    OPERATOR_NAME: LOCAL_OPERATOR,
    SERVICE_PRIVATE_KEY_FILE: keys.servicePrivateKeys.operator,
  };
  const main = join(repositoryRoot, 'packages/cli/src/main.ts');
  execFile(process.execPath, [main, ...args, '--json'], { env }, (error, output, errors) => {
    const code = error === null ? 0 : Number(error.code);
    const isOne = /^[[{]\n/.test(output);
    const lines = isOne
      ? []
      : output
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line));
    resolve({ code, document: isOne ? JSON.parse(output) : null, lines, errors });
  });
  return promise;
}
