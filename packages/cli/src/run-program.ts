import { type Command, CommanderError } from 'commander';
import { EXIT_DONE, EXIT_USAGE } from './commands/exit-codes.ts';
import { createProgram, type Finish } from './program.ts';

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
  try {
    await program.parseAsync();
  } catch (error) {
    // Commander has already printed the error or the help.
    if (!(error instanceof CommanderError)) throw error;
    finish(error.exitCode === 0 ? EXIT_DONE : EXIT_USAGE);
  }
}
