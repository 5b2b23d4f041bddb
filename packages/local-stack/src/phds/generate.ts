import { EXIT_DONE, EXIT_FAILED } from '@phds/cli/commands/command';
import { type CommandSurroundings, explain } from '@phds/cli/commands/import';
import { parseNotEmpty, parsePath } from '@phds/cli/options';
import { writeWholeFile } from '@phds/cli/whole-file';
import { AppError } from '@phds/service-kit/errors';
import { dayOf, formatDay, parseDay } from '@phds/synthetic/calendar';
import { findPerson, PEOPLE } from '@phds/synthetic/people/people';
import type { Person } from '@phds/synthetic/person';
import { endOfDay, openTimeline, type Timeline, type TimelineOptions } from '@phds/synthetic/timeline';
import { FORMATS, type Format, topicsOf, writeTimeline } from '@phds/synthetic/write/formats';
import { Command, InvalidArgumentError, Option } from 'commander';
import { type SentCounts, sendTimeline } from '../seed.ts';

const EARLIEST_DAY = parseDay('1950-01-01') ?? 0;
const MOST_DAYS = 10_000;
const MOST_RECORDS = 100_000_000;

interface Options {
  readonly person: string;
  readonly seed: number;
  readonly days?: number;
  readonly records?: number;
  readonly until?: number;
  readonly format?: Format;
  readonly out?: string;
  readonly user?: string;
}

/** `phds generate`: parses its arguments and passes them to `run`. `now` is milliseconds since the epoch. */
export function createGenerateCommand(
  now: () => number,
  run: (args: GenerateArguments) => Promise<void>,
): Command {
  return new Command('generate')
    .description('Generates the data of a synthetic person, the same for the same arguments.')
    .addOption(
      new Option('--person <name>', 'whose data').choices(PEOPLE.map(({ id }) => id)).makeOptionMandatory(),
    )
    .option('--seed <n>', 'another life of the same person', parseSeed, 1)
    .addOption(
      new Option('--days <n>', 'how many days').argParser(wholeNumber(MOST_DAYS)).conflicts('records'),
    )
    .option('--records <n>', 'how many readings instead, the latest there are', wholeNumber(MOST_RECORDS))
    .option('--until <date>', 'the last day; yesterday unless given', parseDate)
    .addOption(
      new Option(
        '--format <format>',
        'apple: export.xml; fhir: bundle; ndjson: FHIR, one resource a line; csv',
      ).choices(FORMATS),
    )
    .option('--out <file>', 'the file to write', parsePath)
    .addOption(
      new Option('--user <id>', 'send the data to this user instead of writing a file')
        .argParser(parseNotEmpty)
        .conflicts(['format', 'out']),
    )
    .action(async (options: Options, command: Command) => {
      const args = toArguments(options, now());
      if (typeof args === 'string') command.error(`error: ${args}`);
      await run(args);
    });
}

/** Checks the combination of the arguments. A string result is an error message. */
function toArguments(options: Options, now: number): GenerateArguments | string {
  const person = findPerson(options.person);
  if (person === null) throw new RangeError(`no person ${options.person}`);
  const target = toTarget(options);
  if (typeof target === 'string') return target;
  if (options.records !== undefined && person.life === null) {
    return `--records is for people who are measured; ${person.id} is not`;
  }
  const yesterday = dayOf(now, person.timeZone) - 1;
  const day = options.until ?? yesterday;
  if (day > yesterday || day < EARLIEST_DAY) return '--until must be a past day from 1950 on';
  const topics = target.kind === 'file' ? { topics: topicsOf(target.format) } : {};
  const extent = toExtent(options);
  return {
    person,
    target,
    options: { seed: options.seed, until: endOfDay(person, day), ...extent, ...topics },
  };
}

function toExtent({ days, records }: Options) {
  if (days !== undefined) return { extent: { days } };
  return records === undefined ? {} : { extent: { readings: records } };
}

function toTarget({ format, out, user }: Options): GenerateTarget | string {
  if (user !== undefined) return { kind: 'user', userId: user };
  if (format === undefined) return '--format is missing (or name a --user)';
  if (out === undefined) return '--out is missing';
  return { kind: 'file', format, file: out };
}

function parseSeed(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number.');
}

function wholeNumber(most: number): (text: string) => number {
  return (text) => {
    if (/^[1-9]\d{0,8}$/.test(text) && Number(text) <= most) return Number(text);
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${most}.`);
  };
}

function parseDate(text: string): number {
  const day = parseDay(text);
  if (day === null) throw new InvalidArgumentError('It must be a date such as 2026-03-31.');
  return day;
}

interface GenerateArguments {
  readonly person: Person;
  readonly options: TimelineOptions;
  readonly target: GenerateTarget;
}

type GenerateTarget =
  | { readonly kind: 'file'; readonly format: Format; readonly file: string }
  | { readonly kind: 'user'; readonly userId: string };

/** Writes a synthetic person's data to a file, or sends it to a user. Returns the exit code. */
export async function generate(
  { person, options, target }: GenerateArguments,
  { output, errors, connect }: CommandSurroundings,
): Promise<number> {
  try {
    const timeline = openTimeline(person, options);
    const [from, to] = [formatDay(timeline.firstDay), formatDay(timeline.lastDay)];
    const about = `${person.id}, seed ${timeline.seed}, ${from} to ${to}`;
    if (target.kind === 'file') {
      await writeWholeFile(target.file, writeTimeline(timeline, target.format));
      output.write(`${about}: written to ${target.file}\n`);
    } else {
      const { readings, records } = await send(timeline, target.userId, connect);
      output.write(`${about}: ${readings} readings and ${records} records sent to ${target.userId}\n`);
    }
    return EXIT_DONE;
  } catch (error) {
    errors.write(`${explainGenerate(error)}\n`);
    return EXIT_FAILED;
  }
}

async function send(
  timeline: Timeline,
  userId: string,
  connect: CommandSurroundings['connect'],
): Promise<SentCounts> {
  using connection = connect();
  return await sendTimeline(connection.client, userId, timeline);
}

function explainGenerate(error: unknown): string {
  // The system error names the cause, such as a missing directory or a full disk.
  const { syscall, message } = error as NodeJS.ErrnoException;
  if (syscall !== undefined) return message;
  if (error instanceof AppError && error.reason === 'unavailable') {
    return 'health-data does not answer. Repeat the command later: data already sent is kept.';
  }
  return explain(error);
}
