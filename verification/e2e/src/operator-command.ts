import { runCommand } from '@phds/cli/run-program';
import type { RunningStack } from '@phds/running-system/running-stack';
import { LOCAL_OPERATOR } from '@phds/service-kit/keys/key-files';
import { collectOutput } from '@phds/test-kit/collected-output';

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

/** Runs `pnpm phds … --json` in this process, as an operator of this stack. */
export async function runAsOperator(
  { rpcAddresses, keys }: Pick<RunningStack, 'rpcAddresses' | 'keys'>,
  args: readonly string[],
): Promise<CommandResult> {
  const env = {
    AUTHORIZATION_ADDRESS: rpcAddresses.authorization,
    CONSENT_ADDRESS: rpcAddresses.consent,
    HEALTH_DATA_ADDRESS: rpcAddresses['health-data'],
    OPERATOR_NAME: LOCAL_OPERATOR,
    SERVICE_PRIVATE_KEY_FILE: keys.servicePrivateKeys.operator,
  };
  const { output, errors, texts } = collectOutput();
  const code = await runCommand([...args, '--json'], { env, output, errors });
  const isOne = /^[[{]\n/.test(texts.stdout);
  const lines = isOne ? [] : texts.stdout.split('\n').filter(Boolean);
  return {
    code,
    document: isOne ? JSON.parse(texts.stdout) : null,
    lines: lines.map((line) => JSON.parse(line)),
    errors: texts.stderr,
  };
}
