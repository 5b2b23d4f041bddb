/**
 * What `pnpm phds` runs in a checkout: the commands of packages/cli, with the settings of the local stack where the environment
 * sets none, and `generate`, which makes the data of synthetic people.
 */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { callerDirectory } from '@phds/cli/caller-directory';
import { EXIT_DONE, EXIT_FAILED, EXIT_USAGE } from '@phds/cli/commands/exit-codes';
import { openIngestion } from '@phds/cli/connection';
import { findStackFile } from '../stack-file.ts';
import { GENERATE_HELP, generate, parseGenerate } from './generate.ts';
import { findLocalSettings } from './local-settings.ts';

const NO_STACK = `No local stack is running. Start it with: npm start
To work with a service elsewhere, set the variables that pnpm phds --help names.
`;

const args = process.argv.slice(2);
const [command = ''] = args;
if (command === 'generate') process.exitCode = await runGenerate(args.slice(1));
else if (useLocalSettings(args.includes('--help') || args.includes('-h') ? '' : command)) {
  await import('@phds/cli/main');
  if (command === '--help' || command === '-h') process.stdout.write(`\n${GENERATE_HELP}`);
}

/** Adds the settings of the local stack to the environment. False when the stack is needed and does not run. */
function useLocalSettings(name: string): boolean {
  const settings = findLocalSettings(name, process.env, () => findStackFile());
  if (settings === null) {
    process.stderr.write(NO_STACK);
    process.exitCode = EXIT_FAILED;
    return false;
  }
  Object.assign(process.env, settings);
  return true;
}

async function runGenerate(rest: readonly string[]): Promise<number> {
  const values = readValues(rest);
  if (typeof values === 'string') return refuse(values);
  if (values.help === true) {
    process.stdout.write(GENERATE_HELP);
    return EXIT_DONE;
  }
  const out = values.out === undefined ? undefined : resolve(callerDirectory(), values.out);
  const parsed = parseGenerate({ ...values, out }, Date.now());
  if (typeof parsed === 'string') return refuse(parsed);
  // A file needs no service.
  if (parsed.target.kind === 'user' && !useLocalSettings('generate')) return EXIT_FAILED;
  const connect = () => openIngestion(process.env);
  return generate(parsed, { output: process.stdout, errors: process.stderr, connect });
}

function readValues(rest: readonly string[]) {
  try {
    return parseArgs({
      args: [...rest],
      options: {
        person: { type: 'string' },
        seed: { type: 'string' },
        days: { type: 'string' },
        records: { type: 'string' },
        until: { type: 'string' },
        format: { type: 'string' },
        out: { type: 'string' },
        user: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    }).values;
  } catch (error) {
    return (error as Error).message;
  }
}

function refuse(message: string): number {
  process.stderr.write(`${message}\n\n${GENERATE_HELP}`);
  return EXIT_USAGE;
}
