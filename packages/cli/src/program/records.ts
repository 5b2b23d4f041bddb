import { type Command, InvalidArgumentError, Option } from 'commander';
import { EXPORT_FORMATS, exportRecords } from '../commands/records-export.ts';
import { findRecords, type RecordsSearch } from '../commands/records-find.ts';
import { printCheckpoint, verifyRecords } from '../commands/records-verify.ts';
import {
  addUserOptions,
  appOption,
  chooseUser,
  jsonOption,
  parseNumber,
  parsePath,
  timeOption,
  type UserOptions,
} from '../options.ts';
import type { RangeChoice } from '../records/chain-source.ts';
import type { Surrounded } from './surroundings.ts';

export function addRecords(program: Command, surrounded: Surrounded): void {
  const { finish, withRecords, withRecordsOf } = surrounded;
  const records = program.command('records').description('Verifies and exports the access records.');
  addVerification(records, surrounded);
  addSearches(records, surrounded);
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

function addSearches(records: Command, { finish, withRecordsOf }: Surrounded): void {
  for (const [name, description] of Object.entries(SEARCH_DESCRIPTIONS)) {
    const search = name as RecordsSearch;
    records
      .command(search)
      .description(description)
      .addOption(appOption('only of this app'))
      .addOption(timeOption('--from <time>', 'only from this time on (RFC 3339)'))
      .addOption(timeOption('--to <time>', 'only before this time'))
      .addOption(
        new Option('--json', 'print each row as a line of JSON; CSV (RFC 4180) otherwise').default(false),
      )
      .option(
        '--out <file>',
        'write to a file, which appears when it is complete, instead of the output',
        parsePath,
      )
      .action(
        async ({ app: clientId = null, from = null, to = null, json, out: file = null }: SearchOptions) =>
          finish(
            await findRecords(
              { search, clientId, from, to, json, file },
              withRecordsOf({ userId: '', clientId: clientId ?? '' }),
            ),
          ),
      );
  }
}

interface SearchOptions {
  readonly app?: string | null;
  readonly from?: Date | null;
  readonly to?: Date | null;
  readonly json: boolean;
  readonly out?: string | null;
}

interface ExportOptions extends RangeOptions, UserOptions {
  readonly format: (typeof EXPORT_FORMATS)[number];
  readonly out?: string;
}

function addVerification(records: Command, { finish, withRecords }: Surrounded): void {
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
    timeOption(flags, description).conflicts(['month', 'fromCheckpoint']);
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
