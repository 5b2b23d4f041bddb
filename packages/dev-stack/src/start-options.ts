import { parseArgs } from 'node:util';
import { PORT_VARIABLES } from './ports.ts';

/** What the command line of `npm start` says. */
export interface StartOptions {
  readonly fresh: boolean;
  readonly gateways: number;
  readonly help: boolean;
}

const MAX_GATEWAYS = 16;

/** The answer to `--help`. */
export const HELP = `Starts the whole service on this machine: four services, an identity provider for development, Postgres, Redis.

  npm start -- [--fresh] [--gateways N]

  --fresh        begin anew: remove the data of earlier runs (.data) first
  --gateways N   run N gateways (1 to ${MAX_GATEWAYS}) on consecutive ports; default 1
  --help         show this

Ports are moved by environment variables:
${PORT_VARIABLES.map(({ variable, fallback }) => `  ${variable.padEnd(26)}${fallback}`).join('\n')}

REDIS_URL uses a Redis that runs already. Ctrl-C stops everything that was started.
`;

/** Reads the arguments. Throws with a sentence for the person who typed them. */
export function parseStartOptions(args: readonly string[]): StartOptions {
  const values = parseFlags(args);
  return {
    fresh: values.fresh ?? false,
    gateways: parseGateways(values.gateways),
    help: values.help ?? false,
  };
}

function parseFlags(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        fresh: { type: 'boolean' },
        gateways: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    }).values;
  } catch (error) {
    const [sentence] = (error as Error).message.split('. ');
    throw new Error(`${sentence}. Known flags: --fresh, --gateways N, --help.`, { cause: error });
  }
}

function parseGateways(text: string | undefined): number {
  if (text === undefined) return 1;
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && count <= MAX_GATEWAYS) return count;
  throw new Error(`--gateways takes a number from 1 to ${MAX_GATEWAYS}.`);
}
