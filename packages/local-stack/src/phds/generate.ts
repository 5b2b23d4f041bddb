import { EXIT_DONE, EXIT_FAILED } from '@phds/cli/commands/exit-codes';
import { explain } from '@phds/cli/commands/explain';
import type { CommandSurroundings } from '@phds/cli/commands/import';
import { writeWholeFile } from '@phds/cli/whole-file';
import { AppError } from '@phds/service-kit/errors';
import { formatDay } from '@phds/synthetic/calendar';
import type { Person } from '@phds/synthetic/person';
import { openTimeline, type Timeline, type TimelineOptions } from '@phds/synthetic/timeline';
import { type Format, writeTimeline } from '@phds/synthetic/write/formats';
import { type SentCounts, sendTimeline } from '../seed/send-timeline.ts';

export interface GenerateArguments {
  readonly person: Person;
  readonly options: TimelineOptions;
  readonly target: GenerateTarget;
}

export type GenerateTarget =
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

async function writeFile(
  timeline: Timeline,
  { format, file }: GenerateTarget & { kind: 'file' },
): Promise<void> {
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
  // The system error names the cause, such as a missing directory or a full disk.
  const { syscall, message } = error as NodeJS.ErrnoException;
  if (syscall !== undefined) return message;
  if (error instanceof AppError && error.reason === 'unavailable') {
    return 'health-data does not answer. Repeat the command later: data already sent is kept.';
  }
  return explain(error);
}
