import { CommanderError } from 'commander';
import { EXIT_DONE, EXIT_USAGE } from './commands/exit-codes.ts';
import { createProgram } from './program.ts';

// Whoever reads the output may have enough of it, as `head` does: that is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(EXIT_DONE);
});

try {
  await createProgram((code) => {
    process.exitCode = code;
  }).parseAsync(process.argv);
} catch (error) {
  // It has been said what is wrong, or the help that was asked for.
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? EXIT_DONE : EXIT_USAGE;
}
