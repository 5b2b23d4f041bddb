import { type Command, Option } from 'commander';
import {
  addUserOptions,
  appOption,
  jsonOption,
  parsePath,
  timeOption,
  type UserOptions,
} from '../options.ts';
import type { Surrounded } from '../shell.ts';
import { EXPORT_FORMATS, exportRecords } from './records-export.ts';
import { printCheckpoint, verifyRecords } from './records-verify.ts';

export function addRecords(program: Command, surrounded: Surrounded): void {
  const { finish, withRecords } = surrounded;
  const records = program.command('records').description('Verifies and exports the access records.');
  addVerification(records, surrounded);
  records
    .command('checkpoint')
    .description(
      'Prints the newest checkpoint as a line of JSON: number, head, time and signature. Keep it outside the database.',
    )
    .action(async () => finish(await printCheckpoint(withRecords)));
  addExport(records, surrounded);
}

function addExport(records: Command, { finish, withRecordsOf }: Surrounded): void {
  const exporting = records
    .command('export')
    .description('Writes access records, oldest first: of a person, of an app, or of a period.');
  addUserOptions(exporting, 'only accesses to the data of this user')
    .addOption(appOption('only of this app'))
    .addOption(timeOption('--from <time>', 'only from this time on (RFC 3339)'))
    .addOption(timeOption('--to <time>', 'only before this time'))
    .addOption(
      new Option('--format <format>', 'csv: RFC 4180; json: a line of JSON for each access')
        .choices(EXPORT_FORMATS)
        .makeOptionMandatory(),
    )
    .option(
      '--out <file>',
      'write to a file, which appears when it is complete, instead of the output; required with --user-file',
      parsePath,
    )
    .action(
      async (
        { user, userFile, app: clientId = null, from = null, to = null, format, out = null }: ExportOptions,
        command: Command,
      ) => {
        const hidesUser = userFile !== undefined;
        const userId = user ?? userFile ?? null;
        if (userId === null && clientId === null && from === null)
          command.error('error: --user, --user-file, --app or --from is required');
        if (hidesUser && out === null) command.error('error: --user-file needs --out');
        finish(
          await exportRecords(
            { userId, hidesUser, clientId, from, to, format, file: out },
            withRecordsOf({ userId: userId ?? '', clientId: clientId ?? '' }),
          ),
        );
      },
    );
}

interface ExportOptions extends UserOptions {
  readonly app?: string | null;
  readonly from?: Date | null;
  readonly to?: Date | null;
  readonly format: (typeof EXPORT_FORMATS)[number];
  readonly out?: string | null;
}

function addVerification(records: Command, { finish, withRecords }: Surrounded): void {
  records
    .command('verify')
    .description(
      'Recomputes the chains of the access records and of what operators did, and names the first record that was changed, removed, moved or added.',
    )
    .option(
      '--expect <file>',
      'checkpoints kept outside the database, one a line; without them a cut end is not noticed',
      parsePath,
    )
    .addOption(jsonOption('the result'))
    .action(async ({ json, expect = null }: { readonly json: boolean; readonly expect?: string | null }) =>
      finish(await verifyRecords({ json, expect }, withRecords)),
    );
}
