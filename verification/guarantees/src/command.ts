import { setMaxListeners } from 'node:events';
import { listenForSignals } from '@phds/local-stack/interrupt';
import { type Command, CommanderError, InvalidArgumentError } from 'commander';

/** Parses an option that is a whole number above 0. */
export function parseCount(text: string): number {
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number above 0.');
}

/** Parses an option that is a number of seconds. */
export function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (seconds > 0 && Number.isFinite(seconds)) return seconds;
  throw new InvalidArgumentError('It must be a number above 0.');
}

/**
 * Parses the arguments, runs a proof that returns whether every promise was kept, and ends this process, because a fault that failed may
 * have left a server or a timer. SIGINT and SIGTERM abort the signal.
 */
export async function runProof(
  command: Command,
  prove: (signal: AbortSignal) => Promise<boolean>,
): Promise<never> {
  command
    .addHelpText('after', '\nExit codes: 0 every promise was kept, 1 one was broken, 2 it did not run.')
    .showHelpAfterError()
    .exitOverride();
  let code = 2;
  try {
    command.parse();
    const signal = listenForSignals();
    setMaxListeners(0, signal);
    code = (await prove(signal)) ? 0 : 1;
  } catch (error) {
    // Commander has already printed the error or the help.
    if (!(error instanceof CommanderError)) console.error(error instanceof Error ? error.message : error);
    else if (error.exitCode === 0) code = 0;
  }
  process.exit(code);
}
