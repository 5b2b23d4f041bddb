import { type Command, CommanderError } from 'commander';
import { EXIT_DONE, EXIT_USAGE, type Finish } from './commands/command.ts';
import { createProgram } from './program.ts';

/** Runs the command that the process arguments name and sets the exit code. `extend` may add commands and hooks. */
export async function runProgram(
  extend: (program: Command, finish: Finish) => void = () => undefined,
): Promise<void> {
  // A reader such as `head` may close the output early: that is no failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(EXIT_DONE);
  });
  const finish = (code: number) => {
    process.exitCode = code;
  };
  const program = createProgram(finish);
  extend(program, finish);
  await parseArguments(program, process.argv.slice(2), finish);
}

/** Runs the command that the arguments name. Reports the exit code itself when they are wrong or only ask for help. */
export async function parseArguments(
  program: Command,
  args: readonly string[],
  finish: Finish,
): Promise<void> {
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    // Commander has already printed the error or the help.
    if (!(error instanceof CommanderError)) throw error;
    finish(error.exitCode === 0 ? EXIT_DONE : EXIT_USAGE);
  }
}
