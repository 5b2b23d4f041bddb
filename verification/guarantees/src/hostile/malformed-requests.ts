/** Deterministic random choices for a seed. */
export interface Random {
  /** A whole number from 0 to below `limit`. */
  below(limit: number): number;
  /** One of these. */
  of<Item>(items: readonly Item[]): Item;
  /** True in one of `n` cases. */
  oneIn(n: number): boolean;
}

/** Mulberry32: small, fast, and random enough to vary requests. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    below,
    of: (items) => items[below(items.length)] as (typeof items)[number],
    oneIn: (n) => below(n) === 0,
  };
}

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
function malformedText(random: Random): string {
  const text = random.of(TEXTS);
  return random.oneIn(8) ? text.repeat(random.of(REPEATED)).slice(0, 6_000) : text;
}

/** A URL component: encoded, encoded twice, or malformed. */
function malformedComponent(random: Random): string {
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
function malformedQuery(random: Random, names: readonly string[]): string {
  const pairs = Array.from({ length: 1 + random.below(random.oneIn(20) ? 400 : 5) }, () => {
    const name = random.oneIn(3) ? malformedComponent(random) : random.of(names);
    const suffix = random.oneIn(6) ? random.of(['[]', '[a]', '[__proto__][x]', '.a']) : '';
    return random.oneIn(6) ? `${name}${suffix}` : `${name}${suffix}=${malformedComponent(random)}`;
  });
  return pairs.join(random.of(['&', '&', '&', '&&', ';'])).slice(0, random.oneIn(50) ? 9_000 : 4_000);
}

/** A JSON value that has a wrong type, is too deep or too wide, or uses names of built-in properties. */
function malformedJson(random: Random, names: readonly string[]): string {
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

/** Malformed HTTP as bytes (latin1). */
function brokenHttp(random: Random): string {
  return random.of(BROKEN_HTTP)(random);
}

const BROKEN_HTTP: readonly ((random: Random) => string)[] = [
  // Never empty: after empty lines, a server keeps waiting for a request line (RFC 9112, section 2.2).
  (random) => `x${malformedText(random)}\r\n\r\n`,
  () => 'GET / HTTP/9.9\r\nHost: localhost\r\n\r\n',
  () => 'GET / HTTP/1.1\r\n\r\n',
  () => 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n',
  () =>
    'POST /oauth/token HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  () => 'POST /oauth/token HTTP/1.1\r\nHost: a\r\nContent-Length: -5\r\n\r\n',
  () => 'POST /oauth/token HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na',
  () => 'POST /oauth/token HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n',
  () => 'POST /oauth/token HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n',
  () => 'GET / HTTP/1.1\r\nHost: a\r\n folded: b\r\n\r\n',
  () => 'GET / HTTP/1.1\r\nHost: a\r\nX: \u0000\r\n\r\n',
  () => 'GET / HTTP/1.1\r\nHost : a\r\n\r\n',
  (random) => `GET /${'a'.repeat(8_000 + random.below(12_000))} HTTP/1.1\r\nHost: a\r\n\r\n`,
  (random) => `GET / HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(16_000 + random.below(4_000))}\r\n\r\n`,
  () =>
    `GET / HTTP/1.1\r\nHost: a\r\n${Array.from({ length: 3_000 }, (_, n) => `X${n}: 1\r\n`).join('')}\r\n`,
  () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  () => 'CONNECT localhost:1 HTTP/1.1\r\nHost: a\r\n\r\n',
  // The last request of its connection: after an upgrade that it ignores, Node reports no parser errors, so malformed bytes would
  // wait for the idle timeout.
  () => 'GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade, close\r\n\r\n',
  () => 'GET / HTTP/1.1\r\nHost: a\r\nExpect: 200-nothing\r\n\r\n',
  (random) => `${'\u0016\u0003\u0001'}${'\u0080'.repeat(random.below(200))}\r\n\r\n`,
];

/** What an attacker can hold legitimately: an app, a session, and an access token for their own data. */
export interface Credentials {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly session: string;
  readonly accessToken: string;
}

/** The public surfaces of a gateway. */
export const SURFACES = ['api', 'fhir', 'oauth', 'developer', 'partner', 'public', 'http'] as const;
export type Surface = (typeof SURFACES)[number];

type MakeRequest = (random: Random, credentials: Credentials) => string;

/** Creates one request as bytes (latin1). The sender ends it: a body is never longer than announced. */
export function makeMalformedRequest(surface: Surface, random: Random, credentials: Credentials): string {
  return MAKERS[surface](random, credentials);
}

const toWords = (text: string) => text.split(' ');

const LIST_NAMES = toWords('page pageSize from to type bucket timeZone status scope format');
const API_PATHS = toWords(
  'health-data/heart health-data/sleep profile trends aggregations reports medications weight',
);

const FHIR_PATHS = toWords(
  'Observation Patient Condition MedicationAdministration DocumentReference metadata CodeSystem/metric',
);
const FHIR_NAMES = toWords(
  'patient subject _id identifier category code combo-code date onset-date effective-time status intent clinical-status _count _sort _total _summary _format _pretty _cursor',
);

const OAUTH_NAMES = toWords(
  'client_id client_secret redirect_uri scope state response_type response_mode code_challenge code_challenge_method purpose grant_type code code_verifier refresh_token token token_type_hint request_uri aud',
);
const OAUTH_POSTS = ['authorize', 'par', 'token', 'revoke', 'introspect'];
const OAUTH_GETS = ['authorize', 'scopes', 'grants'];

const APP_NAMES = toWords(
  'name redirectUris scopes description developerName homepageUrl requirePkce status',
);
const CONSENT_NAMES = ['scopes', 'expiresInDays', 'expiresAt', 'dataFrom'];

const MAKERS: Readonly<Record<Surface, MakeRequest>> = {
  api: (random, { accessToken }) => {
    const path = random.oneIn(5)
      ? `/api/${random.of(['v1', 'v2', 'v', 'v-1', 'v01', 'v99999999999999999999'])}/${malformedComponent(random)}/${malformedComponent(random)}`
      : `/api/v1/${random.of(API_PATHS)}`;
    const method = random.oneIn(12)
      ? random.of(['POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH'])
      : 'GET';
    return toRequest(method, `${path}?${malformedQuery(random, LIST_NAMES)}`, {
      Authorization: malformedBearer(random, accessToken),
      ...(random.oneIn(6) ? { 'API-Version': headerText(random) } : {}),
      ...(random.oneIn(6) ? { 'If-None-Match': headerText(random) } : {}),
    });
  },
  fhir: (random, { accessToken }) => {
    const headers = {
      Authorization: malformedBearer(random, accessToken),
      ...(random.oneIn(6) ? { Prefer: `handling=${random.oneIn(2) ? 'lenient' : headerText(random)}` } : {}),
      ...(random.oneIn(6) ? { Accept: headerText(random) } : {}),
    };
    const type = random.oneIn(8) ? malformedComponent(random) : random.of(FHIR_PATHS);
    if (random.oneIn(4)) return withBody(random, 'POST', `/fhir/R4/${type}/_search`, headers, FHIR_NAMES);
    const path = random.oneIn(4) ? `${type}/${malformedComponent(random)}` : type;
    return toRequest('GET', `/fhir/R4/${path}?${malformedQuery(random, FHIR_NAMES)}`, headers);
  },
  oauth: (random, credentials) => {
    if (random.oneIn(3)) {
      const own = `client_id=${credentials.clientId}&`;
      const query = `${random.oneIn(2) ? own : ''}${malformedQuery(random, OAUTH_NAMES)}`;
      return toRequest('GET', `/oauth/${random.of(OAUTH_GETS)}?${query}`, {});
    }
    const { clientId, clientSecret } = credentials;
    const basic = Buffer.from(`${clientId}:${clientSecret}`).toString('base64');
    const headers = random.oneIn(2)
      ? { Authorization: random.oneIn(6) ? headerText(random) : `Basic ${basic}` }
      : {};
    return withBody(random, 'POST', `/oauth/${random.of(OAUTH_POSTS)}`, headers, OAUTH_NAMES);
  },
  developer: (random, credentials) => {
    const headers = { Authorization: malformedBearer(random, credentials.session) };
    const path = `/developer/apps/${random.oneIn(2) ? credentials.clientId : malformedComponent(random)}`;
    switch (random.below(4)) {
      case 0:
        return toRequest('GET', `${path}/usage?${malformedQuery(random, LIST_NAMES)}`, headers);
      case 1:
        return withBody(random, 'PATCH', path, headers, APP_NAMES);
      case 2:
        return withBody(random, 'POST', `${path}/status`, headers, APP_NAMES);
      default:
        return withBody(random, 'POST', '/developer/apps', headers, APP_NAMES);
    }
  },
  partner: (random, { session }) => {
    const headers = { Authorization: malformedBearer(random, session) };
    const kind = random.of(['pending', 'grants', 'accesses', 'preview']);
    const path = `/partner/consent/${kind}`;
    if (random.oneIn(2)) return toRequest('GET', `${path}?${malformedQuery(random, LIST_NAMES)}`, headers);
    const one = `${path}/${malformedComponent(random)}`;
    switch (random.below(4)) {
      case 0:
        return withBody(random, 'POST', `${one}/${random.of(['approve', 'deny'])}`, headers, CONSENT_NAMES);
      case 1:
        return withBody(random, 'PATCH', one, headers, CONSENT_NAMES);
      case 2:
        return toRequest('DELETE', one, headers);
      default:
        return toRequest('GET', `${one}/${random.of(['', 'receipt', 'accesses'])}`, headers);
    }
  },
  public: (random) => {
    const places = [
      '/',
      '/assets/',
      '/approve/',
      '/.well-known/',
      '/apps/',
      '/docs/',
      '/api/versions/',
      '/openapi.json',
    ];
    const method = random.oneIn(6) ? random.of(['POST', 'PUT', 'TRACE', 'OPTIONS', 'HEAD']) : 'GET';
    const path = `${random.of(places)}${malformedComponent(random)}`;
    return toRequest(method, `${path}?${malformedQuery(random, LIST_NAMES)}`, {
      Accept: random.of(['text/html', '*/*', headerText(random)]),
      ...(random.oneIn(4) ? { Range: 'bytes=9-1' } : {}),
      ...(random.oneIn(4) ? { Cookie: `session=${headerText(random)}` } : {}),
    });
  },
  http: brokenHttp,
};

function malformedBearer(random: Random, right: string): string {
  if (!random.oneIn(8)) return `Bearer ${right}`;
  return random.of([`bearer  ${right}`, `Bearer ${right}x`, 'Bearer', `Basic ${right}`, headerText(random)]);
}

/** A header field cannot contain control characters. */
function headerText(random: Random): string {
  return malformedText(random)
    .replace(/[^\u0020-\u007e\u00a0-\u00ff]/g, '?')
    .slice(0, 2_000);
}

function withBody(
  random: Random,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  names: readonly string[],
): string {
  const isForm = random.oneIn(3);
  const text = isForm ? malformedQuery(random, names) : malformedJson(random, names);
  const types = [
    'application/json',
    'application/x-www-form-urlencoded',
    'text/plain',
    'multipart/form-data',
    '',
    '/',
  ];
  const usual = isForm ? 'application/x-www-form-urlencoded' : 'application/json';
  return toRequest(
    method,
    path,
    {
      ...headers,
      'Content-Type': random.oneIn(8)
        ? random.of(types)
        : `${usual}${random.oneIn(10) ? '; charset=utf-7' : ''}`,
      ...(random.oneIn(20) ? { 'Content-Encoding': random.of(['gzip', 'br', 'zstd', 'nope']) } : {}),
    },
    text,
  );
}

function toRequest(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  text?: string,
): string {
  const body = text === undefined ? '' : Buffer.from(text.slice(0, 100_000), 'utf8').toString('latin1');
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = text === undefined ? '' : `Content-Length: ${body.length}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${fields.join('')}${length}\r\n${body}`;
}
