import { resolve } from 'node:path';
import { Argument, Command, Option } from 'commander';
import { addApps, addDevelopers } from './apps-program.ts';
import { callerDirectory } from './caller-directory.ts';
import { erasePerson } from './commands/erase.ts';
import type { Finish } from './commands/exit-codes.ts';
import { importFiles } from './commands/import.ts';
import { listImports } from './commands/imports.ts';
import { listReports } from './commands/reports.ts';
import { RESTORED_SERVICES, type RestoreAction, runRestore } from './commands/restore.ts';
import { openIngestion } from './connection.ts';
import { IMPORTERS } from './importers/all.ts';
import { openOperator } from './operator/connection.ts';
import { jsonOption, parseNotEmpty, parsePage, userOption } from './options.ts';
import { addRecords } from './records-program.ts';

const EPILOGUE = `
Settings are environment variables; each KEY may be KEY_FILE, the name of a file with the value. import and imports need
HEALTH_DATA_ADDRESS (host:port) and SERVICE_PRIVATE_KEY (PEM of the caller \`importer\`). records needs RECORDS_DATABASE_URL
(consent's database, with a role that can read it) and RECORDS_PUBLIC_KEYS (JWKS of consent's receipt key). restore needs CONSENT_ADDRESS
and AUTHORIZATION_ADDRESS, erase HEALTH_DATA_ADDRESS besides, reports CONSENT_ADDRESS, apps and developers
AUTHORIZATION_ADDRESS, and all of these SERVICE_PRIVATE_KEY (PEM of the caller \`operator\`).
In a checkout, \`pnpm phds\` takes what is not set from the local stack that runs there.

Exit codes: 0 done (import: also when some items were refused with a reason; verify: nothing was changed);
1 it could not be done (verify: something was changed); 2 wrong arguments; 3 the records could not be verified.`;

const FORMATS = `apple: export.zip or export.xml of Apple Health; csv: readings or records with a header (docs/importing.md);
fhir: a FHIR R4 bundle (.json), or a bulk data export (.ndjson files or their directory);
smart: the directory or zip archive of SMART's sample tables`;

const streams = { output: process.stdout, errors: process.stderr };

/** `pnpm phds`: its commands, options and help. Parsing throws a CommanderError for wrong arguments. */
export function createProgram(finish: Finish): Command {
  const program = new Command('pnpm phds')
    .exitOverride()
    .showHelpAfterError()
    .helpOption('-h, --help', 'print this')
    .addHelpText('after', EPILOGUE);
  addImports(program, finish);
  addRecords(program, finish);
  addReports(program, finish);
  addApps(program, finish);
  addDevelopers(program, finish);
  addErase(program, finish);
  addRestore(program, finish);
  return program;
}

function addImports(program: Command, finish: Finish): void {
  const connect = () => openIngestion(process.env);
  program
    .command('import')
    .summary('import a file for a user')
    .description(
      'Imports a file for a user. Importing the same file again changes nothing; an interrupted import resumes where it stopped.',
    )
    .addArgument(new Argument('<format>', FORMATS).choices(IMPORTERS.map(({ format }) => format)))
    .argument('<files...>', 'the files to import; they may be larger than memory')
    .addOption(userOption('the user whose data it is'))
    .option('--patient <ref>', 'the patient to import, if the file contains several')
    .option('--again', 'start from the beginning, even if an earlier run was interrupted', false)
    .addOption(jsonOption('the report'))
    .action(async (format: string, files: string[], options: ImportOptions, command: Command) => {
      const importer = IMPORTERS.find((known) => known.format === format);
      if (importer === undefined) throw new RangeError(`no importer of ${format}`);
      if (files.length > 1 && !importer.takesSeveral) {
        command.error(`error: one file at a time; also given: ${files.slice(1).join(' ')}`);
      }
      const { user: userId, patient = null, again, json } = options;
      const paths = files.map((file) => resolve(callerDirectory(), file));
      finish(await importFiles({ importer, paths, userId, patient, again, json }, { ...streams, connect }));
    });
  program
    .command('imports')
    .description('Lists the imports of a user.')
    .addOption(userOption('the user whose data it is'))
    .addOption(jsonOption('the list'))
    .action(async ({ user: userId, json }: { user: string; json: boolean }) =>
      finish(await listImports({ userId, json }, { ...streams, connect })),
    );
}

interface ImportOptions {
  readonly user: string;
  readonly patient?: string;
  readonly again: boolean;
  readonly json: boolean;
}

function addReports(program: Command, finish: Finish): void {
  const connect = () => openOperator(process.env, ['consent']);
  program
    .command('reports')
    .description('Shows what people reported about apps.')
    .command('list')
    .description('Lists the reports, newest first, a hundred on a page.')
    .addOption(new Option('--app <client-id>', 'only reports about this app').argParser(parseNotEmpty))
    .addOption(new Option('--page <n>', 'which page').argParser(parsePage).default(1))
    .addOption(jsonOption('the page'))
    .action(async ({ app, page, json }: ReportsOptions) =>
      finish(await listReports({ clientId: app ?? null, page, json }, { ...streams, connect })),
    );
}

interface ReportsOptions {
  readonly app?: string;
  readonly page: number;
  readonly json: boolean;
}

function addErase(program: Command, finish: Finish): void {
  program
    .command('erase')
    .summary('remove a person from every service')
    .description(
      'Removes a person from every service. The access records stay but no longer name the person (docs/erasing.md).',
    )
    .addOption(userOption('the person'))
    .requiredOption('--confirm <id>', 'repeat the id of the person')
    .option(
      '--revoke-apps',
      'also end the apps that the person registered, for everybody who uses them',
      false,
    )
    .addOption(jsonOption('what was removed'))
    .action(async ({ user: userId, confirm, revokeApps, json }: EraseOptions, command: Command) => {
      if (confirm !== userId) command.error('error: --confirm must repeat the id of --user');
      const connect = () => openOperator(process.env, ['authorization', 'consent', 'health-data']);
      finish(await erasePerson({ userId, revokeApps, json }, { ...streams, connect }));
    });
}

interface EraseOptions {
  readonly user: string;
  readonly confirm: string;
  readonly revokeApps: boolean;
  readonly json: boolean;
}

/** The description of each action, and the word that confirms it. */
const RESTORE_COMMANDS: Readonly<
  Record<RestoreAction, { description: string; confirmation: string | null }>
> = {
  status: {
    description:
      'Prints whether the databases of consent and authorization were restored, and what is suspended.',
    confirmation: null,
  },
  declare: {
    description: 'Suspends everything, after a restore that no service could detect.',
    confirmation: 'suspend',
  },
  confirm: {
    description: 'Confirms the restored databases; suspended credentials and grants work again.',
    confirmation: 'believe',
  },
};

function addRestore(program: Command, finish: Finish): void {
  const restore = program
    .command('restore')
    .description('Shows, declares or confirms a restore (docs/restoring.md).');
  const connect = () => openOperator(process.env, RESTORED_SERVICES);
  for (const [name, { description, confirmation }] of Object.entries(RESTORE_COMMANDS)) {
    const action = name as RestoreAction;
    const command = restore.command(action).description(description).addOption(jsonOption('the status'));
    if (confirmation !== null) {
      const option = new Option('--confirm <word>', `must be "${confirmation}"`);
      command.addOption(option.choices([confirmation]).makeOptionMandatory());
    }
    command.action(async ({ json }: { json: boolean }) =>
      finish(await runRestore({ action, json }, { ...streams, connect })),
    );
  }
}
