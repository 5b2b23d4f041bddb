import { Command, InvalidArgumentError } from 'commander';
import { parsePorts, toNamedPorts } from './ports.ts';

/** The parsed command line of `npm start`. */
export interface StartOptions {
  readonly fresh: boolean;
  readonly gateways: number;
}

const MAX_GATEWAYS = 16;

const EPILOGUE = `
Environment variables move the ports:
${toNamedPorts(parsePorts({}, 1))
  .map(({ variable, port }) => `  ${variable.padEnd(28)}${port}`)
  .join('\n')}

--no-install keeps it from installing packages of the operating system, such as Redis (as root on Debian or Ubuntu).
REDIS_URL uses a Redis that runs already. Ctrl-C stops everything that was started.`;

/** The command line of `npm start`. For wrong arguments and --help, parsing prints the text and throws CommanderError. */
export function createStartCommand(): Command {
  return new Command('npm start --')
    .description(
      'Starts the whole service on this machine: four services, an identity provider for development, Postgres, Redis.',
    )
    .option('--fresh', 'remove the data of earlier runs (.data) first', false)
    .option(
      '--gateways <n>',
      `run this many gateways (1 to ${MAX_GATEWAYS}) on consecutive ports`,
      parseGateways,
      1,
    )
    .addHelpText('after', EPILOGUE)
    .showHelpAfterError()
    .exitOverride();
}

function parseGateways(text: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && count <= MAX_GATEWAYS) return count;
  throw new InvalidArgumentError(`It must be a number from 1 to ${MAX_GATEWAYS}.`);
}
