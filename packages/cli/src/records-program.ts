import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Finish } from './commands/exit-codes.ts';
import { printCheckpoint } from './commands/records-checkpoint.ts';
import { EXPORT_FORMATS, exportRecords } from './commands/records-export.ts';
import { verifyRecords } from './commands/records-verify.ts';
import { jsonOption, parseNumber, parsePath, userOption } from './options.ts';
import { openRecords } from './records/connection.ts';
import type { RangeChoice } from './records/range.ts';

const connect = () => openRecords(process.env);
const streams = { output: process.stdout, errors: process.stderr };

export function addRecords(program: Command, finish: Finish): void {
  const records = program.command('records').description('Verifies and exports the access records.');
  addVerification(records, finish);
  records
    .command('checkpoint')
    .description(
      'Prints the newest checkpoint as a line of JSON: number, head, time and signature. Keep it outside the database.',
    )
    .action(async () => finish(await printCheckpoint({ ...streams, connect })));
  records
    .command('export')
    .description("Writes a user's access records, oldest first.")
    .addOption(userOption('the user whose data was accessed'))
    .addOption(monthOption())
    .addOption(fromCheckpointOption())
    .addOption(
      new Option('--format <format>', 'csv: RFC 4180; fhir: FHIR R4 AuditEvents, one a line')
        .choices(EXPORT_FORMATS)
        .makeOptionMandatory(),
    )
    .option(
      '--out <file>',
      'write to a file, which appears when it is complete, instead of the output',
      parsePath,
    )
    .action(async ({ user: userId, format, out, ...range }: ExportOptions) =>
      finish(
        await exportRecords(
          { userId, range: toChoice(range), format, file: out ?? null },
          { ...streams, connect },
        ),
      ),
    );
}

interface ExportOptions extends RangeOptions {
  readonly user: string;
  readonly format: (typeof EXPORT_FORMATS)[number];
  readonly out?: string;
}

function addVerification(records: Command, finish: Finish): void {
  records
    .command('verify')
    .description(
      'Recomputes the chains of the access records and names the first record that was changed, removed, moved or added.',
    )
    .option(
      '--expect <file>',
      'checkpoints kept outside the database, one a line; without them a cut end is not noticed',
      parsePath,
    )
    .addOption(monthOption())
    .addOption(fromCheckpointOption())
    .addOption(jsonOption('the result'))
    .action(async ({ json, expect, ...range }: VerifyOptions) =>
      finish(
        await verifyRecords(
          { json, range: toChoice(range), expect: expect ?? null },
          { ...streams, connect },
        ),
      ),
    );
}

interface VerifyOptions extends RangeOptions {
  readonly json: boolean;
  readonly expect?: string;
}

interface RangeOptions {
  readonly month?: string;
  readonly fromCheckpoint?: number;
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

function toChoice({ month, fromCheckpoint }: RangeOptions): RangeChoice {
  if (month !== undefined) return { month };
  return fromCheckpoint === undefined ? null : { fromCheckpoint };
}
