import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import { findLanguage, LANGUAGES, type Language } from '@phds/catalog/languages';
import { isScope, SCOPE_NAMES, type Scope } from '@phds/catalog/scopes';
import { invalidRequest, notFound } from '@phds/service-kit/errors';
import { isId } from '@phds/service-kit/ids';

const HASH_BYTES = 32;
const LONGEST_TEXT = 2_048;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** A text that Postgres can store, with limited length. `parameter` is named in the error. */
export function parseText(parameter: string, text: string, maxLength = LONGEST_TEXT): string {
  if (text.length > maxLength) throw invalidRequest(parameter, `must have at most ${maxLength} characters`);
  if (text.includes('\0')) throw invalidRequest(parameter, 'must not contain NUL');
  return text;
}

/** Like parseText, but not empty. */
export function parseName(parameter: string, text: string, maxLength = 128): string {
  if (text === '') throw invalidRequest(parameter, 'is missing');
  return parseText(parameter, text, maxLength);
}

/** An id for a look-up. A malformed id is treated like an unknown one. */
export function parseKnownId(prefix: string, id: string): string {
  if (!isId(prefix, id)) throw notFound();
  return id;
}

/** A number in the range of an integer column. */
export function parseCount(parameter: string, count: number): number {
  if (count >= 0x7fff_ffff) throw invalidRequest(parameter, 'is out of range');
  return count;
}

export function parseHash(parameter: string, hash: Uint8Array): Uint8Array {
  if (hash.length !== HASH_BYTES) throw invalidRequest(parameter, `must be ${HASH_BYTES} bytes`);
  return hash;
}

export function parseMoment(parameter: string, timestamp: Timestamp | undefined): Date {
  const moment = findMoment(parameter, timestamp);
  if (moment === null) throw invalidRequest(parameter, 'is missing');
  return moment;
}

/** Null when absent. */
export function findMoment(parameter: string, timestamp: Timestamp | undefined): Date | null {
  if (timestamp === undefined) return null;
  const moment = timestampDate(timestamp);
  const year = moment.getUTCFullYear();
  if (!(year >= 1900 && year <= 9999))
    throw invalidRequest(parameter, 'must be a time of the years 1900 to 9999');
  return moment;
}

/** An existing date, `YYYY-MM-DD`; null when empty. */
export function findDate(parameter: string, text: string): string | null {
  if (text === '') return null;
  const time = DATE.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  if (Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== text || text < '1900') {
    throw invalidRequest(parameter, 'must be a date YYYY-MM-DD');
  }
  return text;
}

/** Known scopes, once each in catalog order. */
export function parseScopes(parameter: string, scopes: readonly string[]): Scope[] {
  const unknown = scopes.filter((scope) => !isScope(scope));
  if (unknown.length > 0) throw invalidRequest(parameter, `unknown: ${unknown.join(', ')}`);
  if (scopes.length === 0) throw invalidRequest(parameter, 'must name at least one');
  return SCOPE_NAMES.filter((scope) => scopes.includes(scope));
}

/** The language of the texts on the approval screen, from a BCP 47 tag; `en` when empty. */
export function parseLanguage(parameter: string, tag: string): Language {
  const language = tag === '' ? 'en' : findLanguage(tag);
  if (language === null) throw invalidRequest(parameter, `must be a tag of one of ${LANGUAGES.join(', ')}`);
  return language;
}
