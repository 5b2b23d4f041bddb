import { EXIT_DONE, EXIT_FAILED } from '@phds/cli/commands/exit-codes';
import { explain } from '@phds/cli/commands/explain';
import type { CommandSurroundings } from '@phds/cli/commands/import';
import { writeWholeFile } from '@phds/cli/whole-file';
import { AppError } from '@phds/service-kit/errors';
import { dayOf, formatDay, parseDay } from '@phds/synthetic/calendar';
import { findPerson, PEOPLE } from '@phds/synthetic/people/people';
import type { Person } from '@phds/synthetic/person';
import { endOfDay, openTimeline, type Timeline, type TimelineOptions } from '@phds/synthetic/timeline';
import { FORMATS, type Format, topicsOf, writeTimeline } from '@phds/synthetic/write/formats';
import { type SentCounts, sendTimeline } from '../seed/send-timeline.ts';

export const GENERATE_HELP = `Usage: pnpm phds generate --person NAME [--seed N] [--days N | --records N] [--until DATE]
                          (--format apple|fhir|ndjson|csv --out FILE | --user ID)

generate         makes the data of a synthetic person, the same for the same arguments (docs/synthetic-people.md)
  --person NAME    ada, grace, sparse, empty, traveller or heavy
  --seed N         another life of the same person; 1 unless given
  --days N         how many days, or with --records how many readings
  --until DATE     the last day; yesterday unless given
  --format         apple: export.xml; fhir: bundle; ndjson: FHIR, one resource a line; csv
  --out FILE       the file to write
  --user ID        send it to this user instead of writing a file
`;

/** What the person at the terminal asked for, as written. */
export interface GenerateValues {
  readonly person?: string | undefined;
  readonly seed?: string | undefined;
  readonly days?: string | undefined;
  readonly records?: string | undefined;
  readonly until?: string | undefined;
  readonly format?: string | undefined;
  /** Absolute path. */
  readonly out?: string | undefined;
  readonly user?: string | undefined;
}

export interface GenerateArguments {
  readonly person: Person;
  readonly options: TimelineOptions;
  readonly target: Target;
}

type Target =
  | { readonly kind: 'file'; readonly format: Format; readonly file: string }
  | { readonly kind: 'user'; readonly userId: string };

const EARLIEST_DAY = parseDay('1950-01-01') ?? 0;
const MOST_DAYS = 10_000;
const MOST_RECORDS = 100_000_000;

/** Reads the arguments; a text says what is wrong with them. */
export function parseGenerate(values: GenerateValues, now: number): GenerateArguments | string {
  const person = findPerson(values.person ?? '');
  if (person === null) return `--person must be one of ${PEOPLE.map(({ id }) => id).join(', ')}`;
  const target = parseTarget(values);
  if (typeof target === 'string') return target;
  const extent = parseExtent(values, person);
  if (typeof extent === 'string') return extent;
  const yesterday = dayOf(now, person.timeZone) - 1;
  const day = values.until === undefined ? yesterday : parseDay(values.until);
  if (day === null) return '--until must be a date such as 2026-03-31';
  if (day > yesterday || day < EARLIEST_DAY) return '--until must be a day from 1950 on that is over';
  const seed = values.seed ?? '1';
  if (!/^\d{1,9}$/.test(seed)) return '--seed must be a whole number';
  const topics = target.kind === 'file' ? { topics: topicsOf(target.format) } : {};
  return {
    person,
    target,
    options: { seed: Number(seed), until: endOfDay(person, day), ...extent, ...topics },
  };
}

function parseExtent(
  { days, records }: GenerateValues,
  person: Person,
): Pick<TimelineOptions, 'extent'> | string {
  if (days !== undefined && records !== undefined) return 'either --days or --records, not both';
  if (days !== undefined) {
    const isRight = isCount(days, MOST_DAYS);
    return isRight
      ? { extent: { days: Number(days) } }
      : `--days must be a whole number from 1 to ${MOST_DAYS}`;
  }
  if (records === undefined) return {};
  if (person.life === null) return `--records is for people who are measured; ${person.id} is not`;
  const isRight = isCount(records, MOST_RECORDS);
  return isRight
    ? { extent: { readings: Number(records) } }
    : `--records must be a whole number from 1 to ${MOST_RECORDS}`;
}

function parseTarget({ format, out, user }: GenerateValues): Target | string {
  if (user !== undefined) {
    if (out !== undefined || format !== undefined) return 'either --user, or --format and --out';
    return user === '' ? '--user is empty' : { kind: 'user', userId: user };
  }
  const known = FORMATS.find((each) => each === format);
  if (known === undefined) return `--format must be one of ${FORMATS.join(', ')} (or name a --user)`;
  if (out === undefined || out === '') return '--out is missing';
  return { kind: 'file', format: known, file: out };
}

function isCount(text: string, most: number): boolean {
  return /^[1-9]\d{0,8}$/.test(text) && Number(text) <= most;
}

/** `phds generate`: writes a synthetic person's data to a file, or sends it to a user. Answers the exit code. */
export async function generate(
  { person, options, target }: GenerateArguments,
  { output, errors, connect }: CommandSurroundings,
): Promise<number> {
  try {
    const timeline = openTimeline(person, options);
    const [from, to] = [formatDay(timeline.firstDay), formatDay(timeline.lastDay)];
    const about = `${person.id}, seed ${timeline.seed}, ${from} to ${to}`;
    if (target.kind === 'file') {
      await writeFile(timeline, target);
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

async function writeFile(timeline: Timeline, { format, file }: Target & { kind: 'file' }): Promise<void> {
  await writeWholeFile(file, writeTimeline(timeline, format));
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
  // A directory that is not there, a full disk: the system says which.
  const { syscall, message } = error as NodeJS.ErrnoException;
  if (syscall !== undefined) return message;
  if (error instanceof AppError && error.reason === 'unavailable') {
    return 'health-data does not answer. Start the command again later: what was sent already stays as it is.';
  }
  return explain(error);
}
