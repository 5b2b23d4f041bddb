import { resolve } from 'node:path';
import { APP_LOCK_KINDS, type AppLockKind } from '@phds/catalog/wire-names';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { type AppAction, changeDevelopers, listApps, listDevelopers, runOnApp } from './commands/apps.ts';
import { auditOperators, type KeptEntry } from './commands/audit.ts';
import type { Finish } from './commands/command.ts';
import { erasePerson, previewErasure } from './commands/erase.ts';
import { importFiles, listImports } from './commands/import.ts';
import { undoImport } from './commands/import-undo.ts';
import { endSessions, listPersonGrants, revokeGrant, showPerson } from './commands/people.ts';
import { EXPORT_FORMATS, exportRecords } from './commands/records-export.ts';
import { findRecords, type RecordsSearch } from './commands/records-find.ts';
import { printCheckpoint, verifyRecords } from './commands/records-verify.ts';
import { listReports } from './commands/reports.ts';
import {
  listSuspended,
  RESTORED_SERVICES,
  type RestoreAction,
  type RestoredPart,
  runRestore,
} from './commands/restore.ts';
import { listWebhooks, pauseWebhook, redeliverEvents } from './commands/webhooks.ts';
import { openIngestion } from './connection.ts';
import { IMPORTERS } from './importers/all.ts';
import { openOperator } from './operator/connection.ts';
import {
  addUserOptions,
  callerDirectory,
  chooseUser,
  jsonOption,
  parseNotEmpty,
  parseNumber,
  parsePage,
  parsePath,
  reasonOption,
  type UserOptions,
} from './options.ts';
import type { RangeChoice } from './records/chain-source.ts';
import { announceRecordsRead, openRecords } from './records/connection.ts';

const EPILOGUE = `
Settings are environment variables; each KEY may be KEY_FILE, the name of a file with the value. import and imports need
HEALTH_DATA_ADDRESS (host:port) and SERVICE_PRIVATE_KEY (PEM of the caller \`importer\`). records needs RECORDS_DATABASE_URL
(the database of the access records, with a role that can read it; LEDGER_DATABASE_URL if consent's own is another) and RECORDS_PUBLIC_KEYS (JWKS of consent's receipt key); all of its commands that print accesses are recorded first, and need
CONSENT_ADDRESS, OPERATOR_NAME and SERVICE_PRIVATE_KEY besides. restore needs CONSENT_ADDRESS
and AUTHORIZATION_ADDRESS, erase HEALTH_DATA_ADDRESS besides, reports CONSENT_ADDRESS, apps and developers
AUTHORIZATION_ADDRESS, audit, people, grants, sessions and webhooks CONSENT_ADDRESS, and all of these OPERATOR_NAME and SERVICE_PRIVATE_KEY (PEM of that operator's key).
In a checkout, \`pnpm phds\` works with the local stack that runs there if none of these is set, nor TLS_CA, TLS_CERT or TLS_KEY.

Exit codes: 0 done (import: also when some items were refused with a reason; verify: nothing was changed);
1 it could not be done (verify: something was changed); 2 wrong arguments; 3 the records could not be verified.`;

const FORMATS = `apple: export.zip or export.xml of Apple Health; csv: readings or records with a header (docs/importing.md);
fhir: a FHIR R4 bundle (.json), or a bulk data export (.ndjson files or their directory);
smart: the directory or zip archive of SMART's sample tables`;

const streams = { output: process.stdout, errors: process.stderr };
const withIngestion = { ...streams, connect: () => openIngestion(process.env) };
const withRecords = { ...streams, connect: () => openRecords(process.env) };
/** The records, after consent has recorded that the operator reads them. */
const withRecordsOf = (subject: { readonly userId: string; readonly clientId: string }) => ({
  ...streams,
  async connect() {
    await announceRecordsRead(process.env, subject);
    return openRecords(process.env);
  },
});
const withServices = (services: Parameters<typeof openOperator>[1], reason = '') => ({
  ...streams,
  connect: () => openOperator(process.env, services, reason),
});

/** `pnpm phds`: its commands, options and help. Parsing throws a CommanderError for wrong arguments. */
export function createProgram(finish: Finish): Command {
  const program = new Command('pnpm phds')
    .exitOverride()
    // Else `imports` would take the options of `imports undo`.
    .enablePositionalOptions()
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
  addPeople(program, finish);
  addWebhooks(program, finish);
  addAudit(program, finish);
  return program;
}

function addImports(program: Command, finish: Finish): void {
  const importing = program
    .command('import')
    .summary('import a file for a user')
    .description(
      'Imports a file for a user. Importing the same file again changes nothing; an interrupted import resumes where it stopped.',
    )
    .addArgument(new Argument('<format>', FORMATS).choices(IMPORTERS.map(({ format }) => format)))
    .argument('<files...>', 'the files to import; they may be larger than memory');
  addUserOptions(importing, 'the user whose data it is')
    .option('--patient <ref>', 'the patient to import, if the file contains several')
    .option('--again', 'start from the beginning, even if an earlier run was interrupted', false)
    .addOption(jsonOption('the report'))
    .option('--out <file>', 'write the report to a file instead of the output', parsePath)
    .action(async (format: string, files: string[], options: ImportOptions, command: Command) => {
      const importer = IMPORTERS.find((known) => known.format === format);
      if (importer === undefined) throw new RangeError(`no importer of ${format}`);
      if (files.length > 1 && !importer.takesSeveral) {
        command.error(`error: one file at a time; also given: ${files.slice(1).join(' ')}`);
      }
      const { patient = null, again, json, out: reportFile = null } = options;
      const paths = files.map((file) => resolve(callerDirectory(), file));
      const args = { importer, paths, ...chooseUser(options, command), patient, again, json, reportFile };
      finish(await importFiles(args, withIngestion));
    });
  const listing = program.command('imports').description('Lists the imports of a user.');
  addUserOptions(listing, 'the user whose data it is')
    .addOption(jsonOption('the list'))
    .action(async ({ json, ...user }: UserOptions & { json: boolean }, command: Command) =>
      finish(await listImports({ ...chooseUser(user, command), json }, withIngestion)),
    );
  listing.enablePositionalOptions();
  addUndo(listing, finish);
}

function addUndo(imports: Command, finish: Finish): void {
  const undo = imports
    .command('undo')
    .description(
      'Removes the readings and health records that files contain which were imported for a user (docs/importing.md).',
    )
    .addArgument(new Argument('<format>', FORMATS).choices(IMPORTERS.map(({ format }) => format)))
    .argument('<files...>', 'the files, as they were imported');
  addUserOptions(undo, 'the user whose data it is')
    .option('--patient <ref>', 'the patient, as in the import')
    .option('--dry-run', 'print how much the files contain, and remove nothing', false)
    .addOption(new Option('--confirm <word>', 'must be "undo"').choices(['undo']))
    .addOption(jsonOption('what was removed'))
    .action(async (format: string, files: string[], options: UndoOptions, command: Command) => {
      const importer = IMPORTERS.find((known) => known.format === format);
      if (importer === undefined) throw new RangeError(`no importer of ${format}`);
      const { patient = null, dryRun, confirm, json } = options;
      if (!dryRun && confirm === undefined) command.error('error: --dry-run or --confirm undo is required');
      const paths = files.map((file) => resolve(callerDirectory(), file));
      const args = { importer, paths, ...chooseUser(options, command), patient, dryRun, json };
      finish(await undoImport(args, withIngestion));
    });
}

interface UndoOptions extends UserOptions {
  readonly patient?: string;
  readonly dryRun: boolean;
  readonly confirm?: string;
  readonly json: boolean;
}

interface ImportOptions extends UserOptions {
  readonly out?: string;
  readonly patient?: string;
  readonly again: boolean;
  readonly json: boolean;
}

function addReports(program: Command, finish: Finish): void {
  program
    .command('reports')
    .description('Shows what people reported about apps.')
    .command('list')
    .description('Lists the reports, newest first, a hundred on a page.')
    .addOption(new Option('--app <client-id>', 'only reports about this app').argParser(parseNotEmpty))
    .addOption(new Option('--page <n>', 'which page').argParser(parsePage).default(1))
    .addOption(jsonOption('the page'))
    .action(async ({ app, page, json }: ReportsOptions) =>
      finish(await listReports({ clientId: app ?? null, page, json }, withServices(['consent']))),
    );
}

interface ReportsOptions {
  readonly app?: string;
  readonly page: number;
  readonly json: boolean;
}

function addErase(program: Command, finish: Finish): void {
  const erase = program
    .command('erase')
    .summary('remove a person from every service')
    .description(
      'Removes a person from every service. The access records stay but no longer name the person (docs/erasing.md).',
    );
  addUserOptions(erase, 'the person')
    .option('--confirm <id>', `repeat the id of the person; with --user-file, "${ERASE}"`)
    .option('--dry-run', 'print what would end, and remove nothing', false)
    .option(
      '--revoke-apps',
      'also end the apps that the person registered, for everybody who uses them',
      false,
    )
    .option('--certificate <file>', 'write a signed certificate of the erasure', parsePath)
    .option('--reason <text>', "why, for the operators' record", parseNotEmpty)
    .addOption(jsonOption('what was removed'))
    .action(async (options: EraseOptions, command: Command) => {
      const { confirm, dryRun, revokeApps, certificate: certificateFile = null, reason, json } = options;
      const { userId, hidesUser } = chooseUser(options, command);
      const services = withServices(['authorization', 'consent', 'health-data'], reason);
      if (dryRun) return finish(await previewErasure({ userId, hidesUser, json }, services));
      if (confirm !== (hidesUser ? ERASE : userId)) {
        const right = hidesUser ? `be "${ERASE}" with --user-file` : 'repeat the id of --user';
        command.error(`error: --confirm must ${right}`);
      }
      if (reason === undefined) command.error("error: required option '--reason <text>' not specified");
      finish(await erasePerson({ userId, revokeApps, certificateFile, json }, services));
    });
}

/** Confirms an erasure of the person in a file. */
const ERASE = 'erase';

interface EraseOptions extends UserOptions {
  readonly confirm?: string;
  readonly dryRun: boolean;
  readonly revokeApps: boolean;
  readonly certificate?: string;
  readonly reason?: string;
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
  for (const [name, { description, confirmation }] of Object.entries(RESTORE_COMMANDS)) {
    const action = name as RestoreAction;
    const command = restore.command(action).description(description).addOption(jsonOption('the status'));
    if (confirmation !== null) {
      const option = new Option('--confirm <word>', `must be "${confirmation}"`);
      command.addOption(option.choices([confirmation]).makeOptionMandatory()).addOption(reasonOption());
    }
    if (action === 'confirm') addPartOptions(command, 'confirm only what belongs');
    command.action(
      async ({ reason = '', json, ...part }: { reason?: string; json: boolean } & PartOptions) => {
        const services = withServices(RESTORED_SERVICES, reason);
        finish(await runRestore({ action, ...toPart(part), json }, services));
      },
    );
  }
  const list = restore
    .command('list')
    .description('Lists what is suspended, a hundred of each service on a page.');
  addPartOptions(list, 'only what belongs')
    .addOption(new Option('--page <n>', 'which page').argParser(parsePage).default(1))
    .addOption(jsonOption('the page'))
    .action(async ({ page, json, ...part }: { page: number; json: boolean } & PartOptions) => {
      const hidesUser = part.userFile !== undefined;
      finish(
        await listSuspended({ ...toPart(part), hidesUser, page, json }, withServices(RESTORED_SERVICES)),
      );
    });
}

interface PartOptions extends UserOptions {
  readonly app?: string;
}

function addPartOptions(command: Command, what: string): Command {
  const app = new Option('--app <client-id>', `${what} to this app`).argParser(parseNotEmpty);
  return addUserOptions(command.addOption(app.conflicts(['user', 'userFile'])), `${what} to this person`);
}

/** Without a part for everything. */
function toPart({ app, user, userFile }: PartOptions): { part?: RestoredPart } {
  const part = { clientId: app ?? '', userId: user ?? userFile ?? '' };
  return part.clientId === '' && part.userId === '' ? {} : { part };
}

const DESCRIPTIONS: Readonly<Record<AppAction, string>> = {
  show: 'Prints an app, with its developer and why it is locked.',
  suspend:
    'Suspends an app at once. Its developer sees the reason and cannot lift this; repeat it to change the reason.',
  resume: 'Lifts the suspension; tokens that have not expired work again.',
  approve: 'Lets people see a new app that waits for an approval.',
  transfer: 'Makes somebody else the developer of an app. The former one finds it no longer.',
};

/** Adds `phds apps`. */
function addApps(program: Command, finish: Finish): void {
  const apps = program.command('apps').description('Shows, suspends, resumes and approves apps.');
  apps
    .command('list')
    .description('Lists the apps of all developers, newest first, a hundred on a page.')
    .addOption(new Option('--owner <id>', 'only apps of this developer').argParser(parseNotEmpty))
    .addOption(
      new Option('--locked <why>', 'only apps that are locked for this reason').choices(APP_LOCK_KINDS),
    )
    .addOption(new Option('--page <n>', 'which page').argParser(parsePage).default(1))
    .addOption(jsonOption('the page'))
    .action(async ({ owner, locked, page, json }: ListOptions) =>
      finish(
        await listApps(
          { ownerId: owner ?? '', lockKind: locked ?? null, page, json },
          withServices(['authorization']),
        ),
      ),
    );
  for (const [name, description] of Object.entries(DESCRIPTIONS)) {
    const action = name as AppAction;
    const command = apps
      .command(action)
      .description(description)
      .argument('<client-id>', 'the app', parseNotEmpty)
      .addOption(jsonOption('the app'));
    if (action === 'suspend') {
      command.addOption(reasonOption('why; also what the developer is told'));
    } else if (action !== 'show') command.addOption(reasonOption());
    if (action === 'approve') {
      command.addOption(
        new Option(
          '--seen <time>',
          'the time after `updated` in `show`, so that only what you have seen is approved',
        )
          .argParser(parseTime)
          .makeOptionMandatory(),
      );
    }
    if (action === 'transfer') {
      const next = new Option('--to-user <id>', 'the next developer').argParser(parseNotEmpty);
      command.addOption(next.makeOptionMandatory());
    }
    command.action(
      async (
        clientId: string,
        { json, ...choices }: { reason?: string; seen?: Date; toUser?: string; json: boolean },
      ) =>
        finish(
          await runOnApp(
            { action, clientId, choices, json },
            withServices(['authorization'], choices.reason),
          ),
        ),
    );
  }
}

/** Adds `phds developers`. */
function addDevelopers(program: Command, finish: Finish): void {
  const developers = program
    .command('developers')
    .description('The people who may register apps, where DEVELOPERS is `listed`.');
  developers
    .command('list')
    .description('Lists them by user id, a hundred on a page.')
    .addOption(new Option('--page <n>', 'which page').argParser(parsePage).default(1))
    .addOption(jsonOption('the page'))
    .action(async ({ page, json }: { page: number; json: boolean }) =>
      finish(await listDevelopers({ page, json }, withServices(['authorization']))),
    );
  for (const action of ['add', 'remove'] as const) {
    const change = developers
      .command(action)
      .description(
        action === 'add' ? 'Lets a person register apps.' : 'No longer lets a person register apps.',
      );
    addUserOptions(change, 'the person')
      .addOption(reasonOption())
      .addOption(jsonOption('the person'))
      .action(async ({ reason, json, ...user }: ChangeOptions, command: Command) => {
        const services = withServices(['authorization'], reason);
        finish(await changeDevelopers({ action, ...chooseUser(user, command), json }, services));
      });
  }
}

interface ChangeOptions extends UserOptions {
  readonly reason: string;
  readonly json: boolean;
}

/** Adds `phds people`, `phds grants` and `phds sessions`. */
function addPeople(program: Command, finish: Finish): void {
  const show = program
    .command('people')
    .description('Shows a person.')
    .command('show')
    .description(
      'Prints how many grants and open requests a person has, and the last read; never health data.',
    );
  addUserOptions(show, 'the person')
    .addOption(jsonOption('the person'))
    .action(async ({ json, ...user }: UserOptions & { json: boolean }, command: Command) =>
      finish(await showPerson({ ...chooseUser(user, command), json }, withServices(['consent']))),
    );
  const grants = program.command('grants').description('Lists the grants of a person, and ends one.');
  const list = grants
    .command('list')
    .description('Lists the grants of a person, newest first, a hundred on a page.');
  addUserOptions(list, 'the person')
    .addOption(new Option('--page <n>', 'which page').argParser(parsePage).default(1))
    .addOption(jsonOption('the page'))
    .action(
      async ({ page, json, ...user }: UserOptions & { page: number; json: boolean }, command: Command) => {
        const { userId } = chooseUser(user, command);
        finish(await listPersonGrants({ userId, page, json }, withServices(['consent'])));
      },
    );
  grants
    .command('revoke')
    .description('Ends a grant at once. The person sees that an operator ended it.')
    .argument('<grant-id>', 'the grant', parseNotEmpty)
    .addOption(reasonOption())
    .addOption(jsonOption('the end'))
    .action(async (grantId: string, { reason, json }: { reason: string; json: boolean }) =>
      finish(await revokeGrant({ grantId, json }, withServices(['consent'], reason))),
    );
  const end = program
    .command('sessions')
    .description('Ends the sessions of a person.')
    .command('end')
    .description('Ends all sessions of a person that were issued until now. Grants stay.');
  addUserOptions(end, '`sub` of the sessions')
    .addOption(reasonOption())
    .addOption(jsonOption('the result'))
    .action(async ({ reason, json, ...user }: ChangeOptions, command: Command) =>
      finish(await endSessions({ ...chooseUser(user, command), json }, withServices(['consent'], reason))),
    );
}

/** Adds `phds webhooks`. */
function addWebhooks(program: Command, finish: Finish): void {
  const webhooks = program.command('webhooks').description('Shows, pauses and resumes the webhooks of apps.');
  webhooks
    .command('list')
    .description('Lists the webhooks of all apps, those in trouble first, a hundred on a page.')
    .addOption(new Option('--page <n>', 'which page').argParser(parsePage).default(1))
    .addOption(jsonOption('the page'))
    .action(async (options: { page: number; json: boolean }) =>
      finish(await listWebhooks(options, withServices(['consent']))),
    );
  const change = (name: string, description: string) =>
    webhooks
      .command(name)
      .description(description)
      .argument('<client-id>', 'the app', parseNotEmpty)
      .addOption(reasonOption())
      .addOption(jsonOption('the result'));
  type Options = { reason: string; json: boolean };
  change(
    'pause',
    'Sends nothing to the webhook of an app; events wait. Its developer cannot lift it.',
  ).action(async (clientId: string, { reason, json }: Options) =>
    finish(await pauseWebhook({ clientId, isPaused: true, json }, withServices(['consent'], reason))),
  );
  change('resume', 'Sends events again, also those that waited.').action(
    async (clientId: string, { reason, json }: Options) =>
      finish(await pauseWebhook({ clientId, isPaused: false, json }, withServices(['consent'], reason))),
  );
  change('redeliver', 'Delivers the events again that were given up.')
    .addOption(
      new Option('--since <time>', 'only events that were made since this time (RFC 3339)')
        .argParser(parseTime)
        .makeOptionMandatory(),
    )
    .option('--delivered-too', 'also events that the receiver has accepted', false)
    .action(
      async (clientId: string, { reason, ...options }: Options & { since: Date; deliveredToo: boolean }) =>
        finish(await redeliverEvents({ clientId, ...options }, withServices(['consent'], reason))),
    );
}

/** Adds `phds audit`. */
function addAudit(program: Command, finish: Finish): void {
  program
    .command('audit')
    .description(
      "Prints the operators' record, oldest first, and verifies that nothing of it was changed or removed.",
    )
    .addOption(
      new Option(
        '--expect <entry>',
        'an entry that an earlier run printed; without it a cut end is not noticed',
      ).argParser(parseKeptEntry),
    )
    .addOption(new Option('--json', 'print each entry as a line of JSON').default(false))
    .action(async ({ expect = null, json }: { expect?: KeptEntry | null; json: boolean }) =>
      finish(await auditOperators({ kept: expect, json }, withServices(['consent']))),
    );
}

function parseKeptEntry(value: string): KeptEntry {
  const [, number, hash] = /^([1-9]\d{0,14}):([0-9a-f]{64})$/.exec(value) ?? [];
  if (number === undefined || hash === undefined) {
    throw new InvalidArgumentError('It must be a number, a colon and 64 hexadecimal digits.');
  }
  return { number: Number(number), hash };
}

interface ListOptions {
  readonly owner?: string;
  readonly locked?: AppLockKind;
  readonly page: number;
  readonly json: boolean;
}

function parseTime(value: string): Date {
  const time = new Date(value);
  if (Number.isNaN(time.getTime())) throw new InvalidArgumentError('It must be a time.');
  return time;
}

function addRecords(program: Command, finish: Finish): void {
  const records = program.command('records').description('Verifies and exports the access records.');
  addVerification(records, finish);
  addSearches(records, finish);
  records
    .command('checkpoint')
    .description(
      'Prints the newest checkpoint as a line of JSON: number, head, time and signature. Keep it outside the database.',
    )
    .action(async () => finish(await printCheckpoint(withRecords)));
  const exporting = records.command('export').description("Writes a user's access records, oldest first.");
  addRangeOptions(addUserOptions(exporting, 'the user whose data was accessed'))
    .addOption(
      new Option('--format <format>', 'csv: RFC 4180; fhir: FHIR R4 AuditEvents, one a line')
        .choices(EXPORT_FORMATS)
        .makeOptionMandatory(),
    )
    .option(
      '--out <file>',
      'write to a file, which appears when it is complete, instead of the output; required with --user-file',
      parsePath,
    )
    .action(async ({ user, userFile, format, out, ...range }: ExportOptions, command: Command) => {
      const person = chooseUser({ user, userFile }, command);
      if (person.hidesUser && out === undefined) command.error('error: --user-file needs --out');
      const choices = { range: toChoice(range), format, file: out ?? null };
      finish(
        await exportRecords(
          { ...person, ...choices },
          withRecordsOf({ userId: person.userId, clientId: '' }),
        ),
      );
    });
}

const SEARCH_DESCRIPTIONS: Readonly<Record<RecordsSearch, string>> = {
  reads: 'Prints what apps read in a period: answers and items by person, grant and scope.',
  late: 'Prints the reads that were recorded after their grant was revoked, and released.',
  approvals: 'Prints who approved what in a period, and whether it has ended.',
};

function addSearches(records: Command, finish: Finish): void {
  for (const [name, description] of Object.entries(SEARCH_DESCRIPTIONS)) {
    const search = name as RecordsSearch;
    records
      .command(search)
      .description(description)
      .addOption(new Option('--app <client-id>', 'only of this app').argParser(parseNotEmpty))
      .addOption(
        new Option('--from <time>', 'beginning of the period; without it, from the first').argParser(
          parseTime,
        ),
      )
      .addOption(
        new Option('--until <time>', 'end of the period; without it, until now').argParser(parseTime),
      )
      .addOption(
        new Option('--json', 'print each row as a line of JSON; CSV (RFC 4180) otherwise').default(false),
      )
      .option(
        '--out <file>',
        'write to a file, which appears when it is complete, instead of the output',
        parsePath,
      )
      .action(async ({ app, from, until, json, out }: SearchOptions) =>
        finish(
          await findRecords(
            {
              search,
              clientId: app ?? null,
              from: from ?? null,
              until: until ?? null,
              json,
              file: out ?? null,
            },
            withRecordsOf({ userId: '', clientId: app ?? '' }),
          ),
        ),
      );
  }
}

interface SearchOptions {
  readonly app?: string;
  readonly from?: Date;
  readonly until?: Date;
  readonly json: boolean;
  readonly out?: string;
}

interface ExportOptions extends RangeOptions, UserOptions {
  readonly format: (typeof EXPORT_FORMATS)[number];
  readonly out?: string;
}

function addVerification(records: Command, finish: Finish): void {
  const verification = records
    .command('verify')
    .description(
      'Recomputes the chains of the access records and names the first record that was changed, removed, moved or added.',
    )
    .option(
      '--expect <file>',
      'checkpoints kept outside the database, one a line; without them a cut end is not noticed',
      parsePath,
    );
  addRangeOptions(verification)
    .addOption(jsonOption('the result'))
    .action(async ({ json, expect, ...range }: VerifyOptions) =>
      finish(await verifyRecords({ json, range: toChoice(range), expect: expect ?? null }, withRecords)),
    );
}

interface VerifyOptions extends RangeOptions {
  readonly json: boolean;
  readonly expect?: string;
}

interface RangeOptions {
  readonly month?: string;
  readonly fromCheckpoint?: number;
  readonly from?: Date | null;
  readonly to?: Date | null;
}

function monthOption(): Option {
  return new Option('--month <yyyy-mm>', 'only the records of a month, in UTC').argParser((value) => {
    if (/^\d{4}-(0[1-9]|1[0-2])$/.test(value)) return value;
    throw new InvalidArgumentError('It must be a month, such as 2026-03.');
  });
}

function fromCheckpointOption(): Option {
  return new Option('--from-checkpoint <n>', 'only the records from a day before this checkpoint on')
    .argParser((value) => parseNumber(value, 9))
    .conflicts('month');
}

function addRangeOptions(command: Command): Command {
  const time = (flags: string, description: string) =>
    new Option(flags, description).argParser(parseTime).conflicts(['month', 'fromCheckpoint']);
  return command
    .addOption(monthOption())
    .addOption(fromCheckpointOption())
    .addOption(time('--from <time>', 'only the records from this time on (RFC 3339)'))
    .addOption(time('--to <time>', 'only the records before this time'));
}

function toChoice({ month, fromCheckpoint, from = null, to = null }: RangeOptions): RangeChoice {
  if (month !== undefined) return { month };
  if (from !== null || to !== null) return { from, to };
  return fromCheckpoint === undefined ? null : { fromCheckpoint };
}
