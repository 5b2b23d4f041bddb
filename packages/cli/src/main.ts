import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { callerDirectory } from './caller-directory.ts';
import { erasePerson } from './commands/erase.ts';
import { EXIT_DONE, EXIT_USAGE } from './commands/exit-codes.ts';
import { importFiles } from './commands/import.ts';
import { listImports } from './commands/imports.ts';
import { EXPORT_FORMATS, exportRecords } from './commands/records-export.ts';
import { verifyRecords } from './commands/records-verify.ts';
import { RESTORE_ACTIONS, type RestoreAction, runRestore } from './commands/restore.ts';
import { openIngestion } from './connection.ts';
import { IMPORTERS } from './importers.ts';
import { openOperator } from './operator/connection.ts';
import { openRecords } from './records/connection.ts';

const HELP = `Usage: pnpm phds import FORMAT FILE… --user ID [--patient REF] [--again] [--json]
       pnpm phds imports --user ID [--json]
       pnpm phds records verify [--json]
       pnpm phds records export --user ID --format csv|fhir [--out FILE]
       pnpm phds erase --user ID --confirm ID [--revoke-apps] [--json]
       pnpm phds restore status|declare|confirm [--json]

import           imports a file for a user; importing the same file again changes nothing, and an import
                 that was interrupted goes on where it stopped
  FORMAT           apple: export.zip or export.xml of Apple Health
                   csv: readings or records with a header of ours (docs/importing.md)
                   fhir: a FHIR R4 bundle (.json), or a bulk data export (.ndjson files or their directory)
                   smart: the directory or zip archive of SMART's sample tables
  FILE             what to import; it may be larger than memory
  --user ID        the user whose data it is
  --patient REF    which patient, when the file is about several
  --again          from the start, even when an earlier run was interrupted
  --json           print the report as one JSON document

imports          lists the imports of a user
  --user ID        the user whose data it is
  --json           print the list as one JSON document

records verify   computes the chains of the access records anew and names the first record that was
                 changed, removed, moved or added
  --json           print the result as one JSON document

records export   a user's access records, oldest first
  --user ID        the user whose data was accessed
  --format         csv (RFC 4180), or fhir: FHIR R4 AuditEvents, one a line
  --out FILE       write to a file instead of the output

erase            removes a person from every service; the access records stay, and name nobody (docs/erasing.md)
  --user ID        the person
  --confirm ID     the same again
  --revoke-apps    also when the person registered apps: they end for everybody who uses them
  --json           print what was removed as one JSON document

restore          what to believe after consent's database was restored (docs/restoring.md)
  status           whether it was, and what is suspended because of it
  declare          suspends everything that is there, after a restore that cannot be noticed
  confirm          believes the database: what was suspended works again
  --json           print the status as one JSON document

  --help           print this

Settings are environment variables; each KEY may be KEY_FILE, the name of a file with the value. import and imports need
HEALTH_DATA_ADDRESS (host:port) and SERVICE_PRIVATE_KEY (PEM of the caller \`importer\`). records needs RECORDS_DATABASE_URL
(consent's database, a role that reads) and RECORDS_PUBLIC_KEYS (JWKS of consent's receipt key). restore needs CONSENT_ADDRESS,
erase AUTHORIZATION_ADDRESS and HEALTH_DATA_ADDRESS besides, and both SERVICE_PRIVATE_KEY (PEM of the caller \`operator\`).
In a checkout, \`pnpm phds\` takes what is not set from the local stack that runs there.

Exit codes: 0 done (import: also when some items were refused with a reason; verify: nothing was changed);
1 it could not be done (verify: something was changed); 2 wrong arguments; 3 the records could not be verified.
`;

type Values = Exclude<ReturnType<typeof readArguments>, string>['values'];

/** Runs the command that the arguments name. Answers the exit code. */
async function main(args: readonly string[]): Promise<number> {
  const parsed = readArguments(args);
  if (typeof parsed === 'string') return fail(parsed);
  const { values, positionals } = parsed;
  if (values.help === true || positionals.length === 0) {
    (values.help === true ? process.stdout : process.stderr).write(HELP);
    return values.help === true ? EXIT_DONE : EXIT_USAGE;
  }
  for (const [name, run] of COMMANDS) {
    const words = name.split(' ');
    if (words.every((word, index) => word === positionals[index])) {
      return run(positionals.slice(words.length), values);
    }
  }
  return fail(`unknown command: ${positionals.slice(0, 2).join(' ')}`);
}

type Command = (rest: readonly string[], values: Values) => Promise<number> | number;

const COMMANDS: ReadonlyMap<string, Command> = new Map<string, Command>([
  ['import', runImport],
  ['imports', alone(runImports)],
  ['records verify', alone(runVerify)],
  ['records export', alone(runExport)],
  ['erase', alone(runErase)],
  ...RESTORE_ACTIONS.map(
    (action) => [`restore ${action}`, alone((values) => runRestoring(action, values))] as const,
  ),
]);

/** A command that takes options alone. */
function alone(run: (values: Values) => Promise<number> | number): Command {
  return (rest, values) => (rest.length > 0 ? fail(`not understood: ${rest.join(' ')}`) : run(values));
}

function runImport([format, ...files]: readonly string[], values: Values): Promise<number> | number {
  const importer = IMPORTERS.find((known) => known.format === format);
  const formats = IMPORTERS.map((known) => known.format).join(', ');
  if (importer === undefined) return fail(`the format must be one of: ${formats}`);
  if (files.length === 0) return fail('the FILE to import is missing');
  if (files.length > 1 && !importer.takesSeveral)
    return fail(`one FILE at a time; also given: ${files.slice(1).join(' ')}`);
  if (values.user === undefined || values.user === '') return fail('--user is missing');
  return importFiles(
    {
      importer,
      paths: files.map((file) => resolve(callerDirectory(), file)),
      userId: values.user,
      patient: values.patient ?? null,
      again: values.again === true,
      json: values.json === true,
    },
    { output: process.stdout, errors: process.stderr, connect: () => openIngestion(process.env) },
  );
}

function runImports(values: Values): Promise<number> | number {
  if (values.user === undefined || values.user === '') return fail('--user is missing');
  return listImports(
    { userId: values.user, json: values.json === true },
    { output: process.stdout, errors: process.stderr, connect: () => openIngestion(process.env) },
  );
}

function runVerify(values: Values): Promise<number> {
  const connect = () => openRecords(process.env);
  return verifyRecords(
    { json: values.json === true },
    { output: process.stdout, errors: process.stderr, connect },
  );
}

function runExport(values: Values): Promise<number> | number {
  if (values.user === undefined || values.user === '') return fail('--user is missing');
  const format = EXPORT_FORMATS.find((known) => known === values.format);
  if (format === undefined) return fail(`--format must be ${EXPORT_FORMATS.join(' or ')}`);
  const file = values.out === undefined ? null : resolve(callerDirectory(), values.out);
  return exportRecords(
    { userId: values.user, format, file },
    { output: process.stdout, errors: process.stderr, connect: () => openRecords(process.env) },
  );
}

function runErase(values: Values): Promise<number> | number {
  if (values.user === undefined || values.user === '') return fail('--user is missing');
  if (values.confirm !== values.user) return fail('--confirm must repeat the ID of --user');
  const connect = () => openOperator(process.env, ['authorization', 'consent', 'health-data']);
  return erasePerson(
    { userId: values.user, revokeApps: values['revoke-apps'] === true, json: values.json === true },
    { output: process.stdout, errors: process.stderr, connect },
  );
}

function runRestoring(action: RestoreAction, values: Values): Promise<number> {
  const connect = () => openOperator(process.env, ['consent']);
  return runRestore(
    { action, json: values.json === true },
    { output: process.stdout, errors: process.stderr, connect },
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
        again: { type: 'boolean' },
        json: { type: 'boolean' },
        confirm: { type: 'string' },
        'revoke-apps': { type: 'boolean' },
        format: { type: 'string' },
        out: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function fail(message: string): number {
  process.stderr.write(`${message}\n\n${HELP}`);
  return EXIT_USAGE;
}

process.exitCode = await main(process.argv.slice(2));
