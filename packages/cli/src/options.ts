import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';

/**
 * The directory that relative paths refer to. pnpm runs scripts in the root of the checkout and passes the caller's directory in a
 * variable.
 */
function callerDirectory(): string {
  const isScript = process.env['npm_lifecycle_event'] === 'phds';
  return (isScript ? process.env['INIT_CWD'] : undefined) ?? process.cwd();
}

/** The options of `addUserOptions`: exactly one is given. */
export interface UserOptions {
  readonly user?: string | undefined;
  /** The id that the file contains. */
  readonly userFile?: string | undefined;
}

/** The person whom a command is about. */
export interface ChosenUser {
  readonly userId: string;
  /** Whether the output must not contain the id, because it came from a file. */
  readonly hidesUser: boolean;
}

/**
 * Adds `--user ID` and `--user-file FILE`. With a file the id is in no command line, in no manifest of a job, and in no output that is
 * collected.
 */
export function addUserOptions(command: Command, description: string): Command {
  return command
    .addOption(new Option('--user <id>', description).argParser(parseNotEmpty).conflicts('userFile'))
    .addOption(
      new Option(
        '--user-file <file>',
        'a file with the id, in place of --user; the output does not contain the id',
      ).argParser(readUserFile),
    );
}

/** The person whom the options of a command choose. Ends the command with its usage if neither option is given. */
export function chooseUser({ user, userFile }: UserOptions, command: Command): ChosenUser {
  const userId = user ?? userFile;
  if (userId === undefined) command.error('error: --user <id> or --user-file <file> is required');
  return { userId, hidesUser: userFile !== undefined };
}

function readUserFile(file: string): string {
  try {
    return parseNotEmpty(readFileSync(parsePath(file), 'utf8').trim());
  } catch (error) {
    throw error instanceof InvalidArgumentError ? error : new InvalidArgumentError('It cannot be read.');
  }
}

/** Why the operator does it, for the operators' record. */
export function reasonOption(description = "why, for the operators' record"): Option {
  return new Option('--reason <text>', description).argParser(parseNotEmpty).makeOptionMandatory();
}

export function jsonOption(what: string): Option {
  return new Option('--json', `print ${what} as one JSON document`).default(false);
}

export function parseNotEmpty(value: string): string {
  if (value === '') throw new InvalidArgumentError('It is empty.');
  return value;
}

function parsePage(value: string): number {
  if (/^[1-9]\d{0,5}$/.test(value)) return Number(value);
  throw new InvalidArgumentError('It must be a whole number from 1.');
}

/** pnpm changes the directory; relative paths refer to the caller's. */
export function parsePath(value: string): string {
  return resolve(callerDirectory(), parseNotEmpty(value));
}

/** Which page of a list. */
export function pageOption(): Option {
  return new Option('--page <n>', 'which page').argParser(parsePage).default(1);
}

export function appOption(description: string): Option {
  return new Option('--app <client-id>', description).argParser(parseNotEmpty);
}

export function timeOption(flags: string, description: string): Option {
  return new Option(flags, description).argParser(parseTime);
}

function parseTime(value: string): Date {
  const time = new Date(value);
  if (Number.isNaN(time.getTime())) throw new InvalidArgumentError('It must be a time.');
  return time;
}
