import { resolve } from 'node:path';
import { InvalidArgumentError, Option } from 'commander';

/**
 * The directory that relative paths refer to. pnpm runs scripts in the root of the checkout and passes the caller's directory in a
 * variable.
 */
export function callerDirectory(): string {
  const isScript = process.env['npm_lifecycle_event'] === 'phds';
  return (isScript ? process.env['INIT_CWD'] : undefined) ?? process.cwd();
}

export function userOption(description: string): Option {
  return new Option('--user <id>', description).argParser(parseNotEmpty).makeOptionMandatory();
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

export function parsePage(value: string): number {
  return parseNumber(value, 6);
}

export function parseNumber(value: string, digits: number): number {
  if (/^[1-9]\d*$/.test(value) && value.length <= digits) return Number(value);
  throw new InvalidArgumentError('It must be a whole number from 1.');
}

/** pnpm changes the directory; relative paths refer to the caller's. */
export function parsePath(value: string): string {
  return resolve(callerDirectory(), parseNotEmpty(value));
}
