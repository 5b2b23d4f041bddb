import { type Command, CommanderError } from 'commander';
import { EXIT_DONE, EXIT_USAGE } from './commands/command.ts';
import { createProgram } from './program.ts';
import type { Shell } from './shell.ts';

/** Adds commands and hooks to a program. */
type Extend = (program: Command, shell: Shell) => void;

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
  const shell = { ...surroundings, finish };
  const program = createProgram(shell);
  extend(program, shell);
  try {
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    // Commander has already printed the error or the help.
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? EXIT_DONE : EXIT_USAGE;
  }
}
