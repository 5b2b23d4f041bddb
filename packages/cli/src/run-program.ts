import { Command, CommanderError } from 'commander';
import { addAudit } from './commands/audit.ts';
import { EXIT_DONE, EXIT_USAGE } from './commands/command.ts';
import { addErase } from './commands/erase.ts';
import { addImports } from './commands/import.ts';
import { addKeys } from './commands/keys.ts';
import { addProbe } from './commands/probe.ts';
import { addRecords } from './commands/records-verify.ts';
import { addRestore } from './commands/restore.ts';
import { addServiceToken } from './commands/service-token.ts';
import { addOperatorCommands } from './operator/command.ts';
import { type Shell, surround } from './shell.ts';

/** Adds hooks to a program. */
type Extend = (program: Command) => void;

/** Runs the command that the arguments of the process name, and sets the exit code. */
export async function runProgram(extend?: Extend): Promise<void> {
  // A reader such as `head` may close the output early: that is no failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(EXIT_DONE);
  });
  const streams = { output: process.stdout, errors: process.stderr };
  process.exitCode = await runCommand(process.argv.slice(2), { env: process.env, ...streams }, extend);
}

/** Runs the command that the arguments name, or prints the usage. Returns the exit code. */
export async function runCommand(
  args: readonly string[],
  surroundings: Omit<Shell, 'finish'>,
  extend: Extend = () => undefined,
): Promise<number> {
  let code = EXIT_DONE;
  const finish = (given: number) => {
    code = given;
  };
  const program = createProgram({ ...surroundings, finish });
  extend(program);
  try {
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    // Commander has already printed the error or the help.
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? EXIT_DONE : EXIT_USAGE;
  }
}

const EPILOGUE = `
Settings are environment variables; each KEY may be KEY_FILE, the name of a file with the value. import and imports need
HEALTH_DATA_ADDRESS (host:port) and SERVICE_PRIVATE_KEY (PEM of the caller \`service:importer\`, or of SERVICE_NAME), service-token SERVICE_PRIVATE_KEY. records needs RECORDS_DATABASE_URL
(consent's database, with a role that can read it) and RECORDS_PUBLIC_KEYS (JWKS of consent's receipt key); all of its commands that print accesses are recorded first, and need
CONSENT_ADDRESS, OPERATOR_NAME and SERVICE_PRIVATE_KEY besides. restore needs CONSENT_ADDRESS
and AUTHORIZATION_ADDRESS, erase HEALTH_DATA_ADDRESS besides, apps and developers
AUTHORIZATION_ADDRESS, audit, people, grants, sessions and webhooks CONSENT_ADDRESS, and all of these OPERATOR_NAME and SERVICE_PRIVATE_KEY (PEM of that operator's key).
probe needs PROBE_CLIENT_ID, PROBE_CLIENT_SECRET (of an app with a secret) and PROBE_SESSION (of a person).
In a checkout, \`pnpm phds\` works with the local stack that runs there if none of these is set, nor TLS_CA, TLS_CERT or TLS_KEY.

Exit codes: 0 done (import: also when some items were refused with a reason; verify: nothing was changed);
1 it could not be done (verify: something was changed); 2 wrong arguments; 3 the records could not be verified.`;

/** `phds`: its commands, options and help. Parsing throws a CommanderError for wrong arguments. */
function createProgram(shell: Shell): Command {
  const surrounded = surround(shell);
  const program = new Command('phds')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void shell.output.write(text),
      writeErr: (text) => void shell.errors.write(text),
    })
    .showHelpAfterError()
    .helpOption('-h, --help', 'print this')
    .addHelpText('after', EPILOGUE);
  addImports(program, surrounded);
  addRecords(program, surrounded);
  addOperatorCommands(program, surrounded);
  addErase(program, surrounded);
  addRestore(program, surrounded);
  addAudit(program, surrounded);
  addKeys(program, surrounded);
  addServiceToken(program, surrounded);
  addProbe(program, surrounded);
  return program;
}
