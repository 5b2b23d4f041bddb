import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { compileMessageOrThrow } from '@lingui/message-utils/compileMessage';
import { PROFILE_FIELDS } from '@phds/catalog/app-profile';

const SRC = join(import.meta.dirname, '../src');
const areasOf = (language: string) =>
  globSync(`texts/${language}/*.json`, { cwd: SRC }).map((path) => path.replace(/^.*\/|\.json$/g, ''));
const AREAS = areasOf('en');
/** The console is in English only. */
const TRANSLATED = AREAS.filter((area) => area !== 'console');
const SOURCES = globSync('**/*.{ts,tsx}', { cwd: SRC }).map((path) => readFileSync(join(SRC, path), 'utf8'));

const FIELDS = new Set<string>(PROFILE_FIELDS);

type Catalog = Readonly<Record<string, string>>;

function readCatalog(language: string, area: string): Catalog {
  return JSON.parse(readFileSync(join(SRC, 'texts', language, `${area}.json`), 'utf8')) as Catalog;
}

/** The placeholders and tags of a message, which every language must have. */
function partsOf(message: string): string[] {
  const tags = message.match(/<\/?\w+\/?>/g) ?? [];
  return [...new Set([...tags, ...namesOf(compileMessageOrThrow(message))])].toSorted();
}

/** The placeholders of a compiled message: texts, and arrays of a name, a type and, for a plural, messages by case. */
function namesOf(tokens: unknown): string[] {
  if (!Array.isArray(tokens)) return [];
  return tokens
    .filter((token) => Array.isArray(token))
    .flatMap(([name, , cases]) => [`{${name}}`, ...Object.values(cases ?? {}).flatMap(namesOf)]);
}

test('every area but the console has a German catalogue', () => {
  expect(AREAS).toContain('frame');
  expect(areasOf('de').toSorted()).toEqual(TRANSLATED.toSorted());
});

test.each(TRANSLATED)('every message of %s exists in German with the same placeholders and tags', (area) => {
  const [english, german] = [readCatalog('en', area), readCatalog('de', area)];
  const toParts = (catalog: Catalog) =>
    Object.fromEntries(Object.entries(catalog).map(([id, message]) => [id, partsOf(message)]));
  expect(toParts(german)).toEqual(toParts(english));
});

test.each(AREAS)('every message of %s is used', (area) => {
  const unused = Object.keys(readCatalog('en', area)).filter(
    // The names with a dot contain a code of the data API; others are of fields of an app's profile.
    (id) =>
      !id.includes('.') &&
      !FIELDS.has(id) &&
      !SOURCES.some((source) => new RegExp(`['"]${id}['"]`).test(source)),
  );
  expect(unused).toEqual([]);
});

/** Messages that are the same in both languages. */
const SAME: Readonly<Record<string, readonly string[]>> = {
  apps: ['domain', 'website'],
  data: ['field.name', 'field.status', 'mood.neutral', 'source.apple-watch', 'source.iphone', 'type.bmi'],
  frame: ['app', 'appsShort', 'service'],
  message: ['code'],
};

test.each(TRANSLATED)('every message of %s is translated', (area) => {
  const [english, german] = [readCatalog('en', area), readCatalog('de', area)];
  const hasWords = (message: string) => /\p{L}/u.test(message.replaceAll(/\{[^{}]*\}|<[^<>]*>/g, ''));
  const same = Object.keys(english).filter((id) => english[id] === german[id] && hasWords(english[id] ?? ''));
  expect(same.toSorted()).toEqual((SAME[area] ?? []).toSorted());
});

test('a browser without script is told in both languages that the pages need it', () => {
  const [, words = ''] = readFileSync(join(SRC, '../index.html'), 'utf8').split('<noscript>');
  expect(words).toContain('These pages need JavaScript.');
  expect(words).toMatch(/lang="de">Diese Seiten brauchen JavaScript\./);
});
