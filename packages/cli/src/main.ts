import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { EXIT_DONE, EXIT_USAGE, importFhir } from './commands/import-fhir.ts';
import { openIngestion } from './connection.ts';

const HELP = `Usage: pnpm phds import fhir FILE --user ID [--patient REF] [--json]

Imports a FHIR R4 bundle (JSON) for a user. Importing the same file again changes nothing.

  FILE             the bundle; it may be larger than memory
  --user ID        the user whose data it is
  --patient REF    which patient, when the bundle is about several
  --json           print the report as one JSON document
  --help           print this

Writes to the local stack that runs in this checkout, or where HEALTH_DATA_ADDRESS (host:port) and
SERVICE_PRIVATE_KEY_FILE (PEM of the caller \`importer\`) point.

Exit codes: 0 imported, also when some items were refused with a reason; 1 the file is unusable or
health-data does not take it; 2 wrong arguments.
`;

/** Runs the command that the arguments name. Answers the exit code. */
async function main(args: readonly string[]): Promise<number> {
  const parsed = readArguments(args);
  if (typeof parsed === 'string') return fail(parsed);
  const { values, positionals } = parsed;
  if (values.help === true || positionals.length === 0) {
    (values.help === true ? process.stdout : process.stderr).write(HELP);
    return values.help === true ? EXIT_DONE : EXIT_USAGE;
  }
  const [verb, format, file, ...rest] = positionals;
  if (verb !== 'import' || format !== 'fhir')
    return fail(`unknown command: ${positionals.slice(0, 2).join(' ')}`);
  if (file === undefined) return fail('the FILE to import is missing');
  if (rest.length > 0) return fail(`one FILE at a time; also given: ${rest.join(' ')}`);
  if (values.user === undefined || values.user === '') return fail('--user is missing');
  return importFhir(
    {
      file: resolve(callerDirectory(), file),
      userId: values.user,
      patient: values.patient ?? null,
      json: values.json === true,
    },
    { output: process.stdout, errors: process.stderr, connect: () => openIngestion(process.env) },
  );
}

function readArguments(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        user: { type: 'string' },
        patient: { type: 'string' },
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** pnpm runs scripts in the root of the checkout; a relative FILE means the directory the person stands in. */
function callerDirectory(): string {
  const isScript = process.env['npm_lifecycle_event'] === 'phds';
  return (isScript ? process.env['INIT_CWD'] : undefined) ?? process.cwd();
}

function fail(message: string): number {
  process.stderr.write(`${message}\n\n${HELP}`);
  return EXIT_USAGE;
}

process.exitCode = await main(process.argv.slice(2));
