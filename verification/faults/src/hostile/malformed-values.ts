import type { Random } from './random.ts';

const REPEATED = [1, 40, 300, 3_000];

/** Texts that have caused problems in parsers, databases and log writers, used for any parameter. */
const TEXTS: readonly string[] = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\u202eevil',
  '\u3164',
  '\ufeff',
  '𝕯𝖆𝖙𝖆',
  "'; DROP TABLE reading; --",
  '{{7*7}}',
  '../../../../etc/passwd',
  '<script>alert(1)</script>',
  '=cmd|calc',
  '__proto__',
  'constructor',
  'toString',
  'null',
  'undefined',
  'true',
  'NaN',
  'Infinity',
  '-0',
  '-1',
  '0',
  '1.5',
  '1e309',
  '9007199254740993',
  '99999999999999999999',
  '0x10',
  '2026-02-30',
  '2026-13-01T00:00:00Z',
  '0000-00-00',
  '+275760-09-13T00:00:00.001Z',
  '-271821-04-19T23:59:59.999Z',
  '2026-01-01T00:00:00+99:99',
  'Europe/Nowhere',
  'read:health-data:heart read:health-data:heart',
  'read:*',
  'http://[::1',
  'javascript:alert(1)',
  'https://user:pass@host/#x',
  `app_${'x'.repeat(22)}`,
  `apr_${'0'.repeat(22)}`,
  `grt_${'Z'.repeat(22)}`,
  `phds_at_${'a'.repeat(49)}`,
  `phds_rt_${'a'.repeat(49)}`,
  `phds_ac_${'a'.repeat(49)}`,
];

/** A text that no parameter accepts, sometimes a long one. */
export function malformedText(random: Random): string {
  const text = random.of(TEXTS);
  return random.oneIn(8) ? text.repeat(random.of(REPEATED)).slice(0, 6_000) : text;
}

/** A URL component: encoded, encoded twice, or malformed. */
export function malformedComponent(random: Random): string {
  switch (random.below(6)) {
    case 0:
      return random.of(['%', '%2', '%zz', '%00', '%c0%ae', '%ed%a0%80', '%ff', '%u0041', '+', '%2b%20']);
    case 1:
      return encodeURIComponent(encodeURIComponent(malformedText(random).toWellFormed()));
    default:
      return encodeURIComponent(malformedText(random).toWellFormed());
  }
}

/** A query string or form body with unknown names, repeated ones, brackets, or no values. */
export function malformedQuery(random: Random, names: readonly string[]): string {
  const pairs = Array.from({ length: 1 + random.below(random.oneIn(20) ? 400 : 5) }, () => {
    const name = random.oneIn(3) ? malformedComponent(random) : random.of(names);
    const suffix = random.oneIn(6) ? random.of(['[]', '[a]', '[__proto__][x]', '.a']) : '';
    return random.oneIn(6) ? `${name}${suffix}` : `${name}${suffix}=${malformedComponent(random)}`;
  });
  return pairs.join(random.of(['&', '&', '&', '&&', ';'])).slice(0, random.oneIn(50) ? 9_000 : 4_000);
}

/** A JSON value that has a wrong type, is too deep or too wide, or uses names of built-in properties. */
export function malformedJson(random: Random, names: readonly string[]): string {
  switch (random.below(10)) {
    case 0:
      return random.of([
        '',
        '{',
        '}',
        '[',
        '"',
        'nul',
        '{"a":}',
        '{"a":1,}',
        "{'a':1}",
        '\u0000',
        '{}{}',
        'NaN',
      ]);
    case 1:
      return '['.repeat(1 + random.below(5_000));
    case 2: {
      const depth = 1 + random.below(2_000);
      return `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
    }
    case 3:
      return random.of(['null', 'true', '1', '""', '[]', '[null]', '1e999', '"\\ud800"']);
    default:
      return JSON.stringify(malformedObject(random, names));
  }
}

function malformedObject(random: Random, names: readonly string[]): Record<string, unknown> {
  const count = 1 + random.below(random.oneIn(30) ? 300 : 6);
  return Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      random.oneIn(4) ? `${malformedText(random)}${index}` : random.of(names),
      malformedMember(random),
    ]),
  );
}

function malformedMember(random: Random): unknown {
  switch (random.below(8)) {
    case 0:
      return null;
    case 1:
      return random.of([true, false, 0, -1, 1.5, 1e308, Number.MAX_SAFE_INTEGER]);
    case 2:
      return Array.from({ length: random.below(random.oneIn(20) ? 2_000 : 4) }, () => malformedText(random));
    case 3:
      return { [malformedText(random)]: malformedText(random) };
    case 4:
      return [[], {}, null];
    default:
      return malformedText(random);
  }
}
